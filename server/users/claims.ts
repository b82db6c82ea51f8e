import { z } from 'zod';
import type { Database } from '../store/index.ts';
import { attributeDocs } from './attribute-docs.ts';
import { type ProfileField, profileFieldNames, profileFields } from './profile-fields.ts';
import { type Media, pictureUrl, toImagePath, toName, type User } from './user.ts';
import { createImageNameReader } from './user-store.ts';

/**
 * OpenID Connect Core 1.0, section 5.1, defines female and male and allows further values; the stored values are the
 * wire's numbers.
 */
const genderClaims: ReadonlyMap<string, string> = new Map([
  ['1', 'female'],
  ['2', 'male'],
  ['3', 'other'],
]);

/** The stored value of a gender claim; every other value stays as it is. */
export function toGenderNumber(value: unknown): unknown {
  for (const [number, claim] of genderClaims) if (claim === value) return number;
  return value;
}

/** Claims of OpenID Connect Core 1.0, section 5.1, in the scope `profile`. */
const standardProfileClaims = 'name given_name family_name picture locale updated_at birthdate gender'.split(' ');
const standardClaims = new Set([...standardProfileClaims, 'address']);

/** The other fields of the profile with `claim`. */
const ownProfileClaims = profileFieldNames
  .map((name) => ({ name, attribute: profileFields[name].attribute, claim: profileFields[name].claim }))
  .filter(({ attribute, claim }) => claim && !standardClaims.has(attribute));

/** Their schemas in answers of the JSON API. */
export const ownProfileClaimSchemas = Object.fromEntries(
  ownProfileClaims.map(({ name, attribute }) => [attribute, z.string().optional().meta(attributeDocs[name])]),
);

/** The claims of each scope (OpenID Connect Core 1.0, section 5.4). */
export const claimsByScope: Record<string, string[]> = {
  openid: ['sub'],
  profile: [...standardProfileClaims, ...ownProfileClaims.map(({ attribute }) => attribute)],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
  address: ['address'],
  // Foyer's own.
  membership: ['plan', 'seats', 'entitlements'],
};

/** The claims of the scope `profile` without those of fields that are not switched on. */
export function listProfileClaims(withheldFields: ReadonlySet<ProfileField>): string[] {
  const withheld = ownProfileClaims.filter(({ name }) => withheldFields.has(name)).map(({ attribute }) => attribute);
  return (claimsByScope.profile ?? []).filter((claim) => !withheld.includes(claim));
}

export interface Claims {
  sub: string;
  [claim: string]: string | number | boolean | { formatted: string } | readonly string[] | undefined;
}

/** The membership of a user; `wiring.ts` injects the function, because billing/ belongs to a higher layer. */
export interface MembershipClaims {
  /** The plan's id; undefined: none. */
  plan: string | undefined;
  /** Of a plan that is sold by the seat; undefined: it is not. */
  seats?: number | undefined;
  /** Includes those of a running trial. */
  entitlements: readonly string[];
}
export type GetMembershipClaims = (user: Pick<User, 'planId' | 'seats' | 'trialUntil'>) => MembershipClaims;

/** The claims of the scope `profile`. */
function profileClaims(user: User) {
  return {
    // Without a name there is no claim: the address belongs only to the scope email.
    name: toName(user),
    given_name: user.givenName || undefined,
    family_name: user.familyName || undefined,
    picture: user.picture ?? undefined,
    // The specification's default.
    locale: user.locale ?? 'en',
    // Seconds, like all times in claims.
    updated_at: Math.floor(user.updatedAt / 1000),
    birthdate: user.birthdate ?? undefined,
    gender: genderClaims.get(user.gender),
    ...Object.fromEntries(ownProfileClaims.map(({ name, attribute }) => [attribute, user[name] ?? undefined])),
  };
}

/** The claims of a user for client apps: the only place where user attributes become claims. */
export function claimsFor(user: User, scopes: ReadonlySet<string>, membership: MembershipClaims): Claims {
  const all: Claims = {
    ...profileClaims(user),
    sub: user.id,
    email: user.email,
    email_verified: user.emailVerified,
    phone_number: user.phone ?? undefined,
    phone_number_verified: user.phone ? user.phoneVerified : undefined,
    // OpenID Connect Core 1.0, section 5.1.1.
    address: user.address === null ? undefined : { formatted: user.address },
    plan: membership.plan,
    seats: membership.seats,
    entitlements: membership.entitlements,
  };
  const claims: Claims = { sub: user.id };
  for (const scope of scopes) {
    if (!Object.hasOwn(claimsByScope, scope)) continue;
    for (const name of claimsByScope[scope] ?? []) if (all[name] !== undefined) claims[name] = all[name];
  }
  return claims;
}

/** Completes a user for client apps: the claim `picture` is the picture of the page header. */
export type WithPicture = (user: User) => Promise<User>;

/** The picture of the user record; without one the claim is what an identity provider or an import gave. */
export function createPictureClaim(database: Database, media: Media): WithPicture {
  const findImageName = createImageNameReader(database);
  return async (user) => {
    const picture = pictureUrl(toImagePath(await findImageName(user)), media);
    return picture === undefined ? user : { ...user, picture };
  };
}
