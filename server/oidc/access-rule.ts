import type { GetMembershipClaims, MembershipClaims, User } from '../users/index.ts';
import type { ClientMetadata } from './client-metadata.ts';

/** The membership that a client app requires of its users, from the registration or from the library. */
export type AccessRequirement =
  | Readonly<Pick<ClientMetadata, 'required_plans' | 'required_entitlements'>>
  | { readonly [name: string]: unknown };

const names = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Tests whether a client app requires any plan or entitlement. */
export function isRestricted(demand: AccessRequirement): boolean {
  return names(demand.required_plans).length > 0 || names(demand.required_entitlements).length > 0;
}

/**
 * The only rule of access to a client app: any one of the plans and entitlements that it names is enough; an app that
 * names none is open to all. Authorization, tokens, calls and pages evaluate it each time, so that a change of plan
 * takes effect at once.
 */
export function grantsAccess(demand: AccessRequirement, { plan, entitlements }: MembershipClaims): boolean {
  if (!isRestricted(demand)) return true;
  const has = plan !== undefined && names(demand.required_plans).includes(plan);
  return has || names(demand.required_entitlements).some((one) => entitlements.some((own) => own === one));
}

/** The rule for a user of the database. */
export type CanAccessClient = (
  client: AccessRequirement,
  user: Pick<User, 'planId' | 'seats' | 'trialUntil'>,
) => boolean;

export const createCanAccessClient =
  (getMembershipClaims: GetMembershipClaims): CanAccessClient =>
  (client, user) =>
    !isRestricted(client) || grantsAccess(client, getMembershipClaims(user));

/** The ids of plans and names of entitlements that exist. */
export interface GrantableAccess {
  plans: readonly string[];
  entitlements: readonly string[];
}

/**
 * Finds plans and entitlements that a client app requires and that no user can have: misspelt, or no longer in the
 * catalogue.
 */
export function grantsToNobody(client: ClientMetadata, offer: GrantableAccess): GrantableAccess {
  return {
    plans: (client.required_plans ?? []).filter((plan) => !offer.plans.includes(plan)),
    entitlements: (client.required_entitlements ?? []).filter((one) => !offer.entitlements.includes(one)),
  };
}
