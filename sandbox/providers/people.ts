import { createHash } from 'node:crypto';
import { type ProviderKind, providerKinds } from '../../config/standard-providers.ts';
import { standInTraits } from './traits.ts';

/** Each provider has a stand-in. */
export const standInKinds = providerKinds;
export type StandInKind = ProviderKind;

/** A person with an account at the providers. */
export interface Person {
  givenName: string;
  familyName: string;
  /** Absent: the provider gives none. */
  email?: string | undefined;
  /** Whether the provider says that it is theirs; Facebook omits others, and Amazon says nothing about it. */
  emailVerified: boolean;
  picture?: string | undefined;
  /** The provider's subject; derived from the address (or the name) if it is not given. */
  subject?: string | undefined;
}

export const toFullName = ({ givenName, familyName }: Person): string => `${givenName} ${familyName}`.trim();

/** The provider's constant subject of a person, in its own format. */
export function toSubject(kind: StandInKind, person: Person): string {
  if (person.subject !== undefined) return person.subject;
  const hash = createHash('sha256')
    .update(`${kind} ${person.email?.toLowerCase() ?? toFullName(person)}`)
    .digest();
  return standInTraits[kind].toSubject(hash);
}

/** Path prefix of the companies. */
export const oidcPath = '/acme-oidc';
export const samlPath = '/acme-saml';

/** The authoritative domains of the sandbox's company providers. */
export const companyDomains = { oidc: 'acme.example', saml: 'corp.acme.example' } as const;

const accounts = [
  { givenName: 'Ada', familyName: 'Lovelace', account: 'ada', emailVerified: true },
  { givenName: 'Vera', familyName: 'Lindqvist', account: 'vera', emailVerified: true },
  { givenName: 'Grace', familyName: 'Hopper', account: 'grace', emailVerified: false },
  { givenName: 'Joan', familyName: 'Clarke', account: undefined, emailVerified: false },
];

/**
 * The people with an account: a new one, one with the demo user's address (at the companies: another), one with an
 * unverified address (SAML: one outside of the company), and one without an address.
 */
export function listPeople(kind: StandInKind): Person[] {
  const domain = kind === 'oidc' || kind === 'saml' ? companyDomains[kind] : 'example.com';
  return accounts.map(({ account, ...person }) => ({
    ...person,
    ...(account !== undefined && {
      email: `${account}@${kind === 'saml' && !person.emailVerified ? 'elsewhere.example' : domain}`,
    }),
  }));
}
