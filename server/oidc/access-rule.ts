import type { GetMembershipClaims, MembershipClaims, User } from '../users/index.ts';
import type { ClientMetadata } from './client-metadata.ts';

/** What a client app asks of its members, as it is registered, or as the library holds it. */
export type AccessRequirement =
  | Readonly<Pick<ClientMetadata, 'required_plans' | 'required_entitlements'>>
  | { readonly [name: string]: unknown };

const names = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Whether a client app asks anything of its members at all. */
export function isRestricted(demand: AccessRequirement): boolean {
  return names(demand.required_plans).length > 0 || names(demand.required_entitlements).length > 0;
}

/**
 * The one rule of who gets into a client app: any one of the plans and entitlements that it names lets a member in; one
 * that names none is open to all. Authorization, tokens, calls and pages all ask this, each time anew, so that a change of
 * plan acts at once.
 */
export function grantsAccess(demand: AccessRequirement, { plan, entitlements }: MembershipClaims): boolean {
  if (!isRestricted(demand)) return true;
  const has = plan !== undefined && names(demand.required_plans).includes(plan);
  return has || names(demand.required_entitlements).some((one) => entitlements.some((own) => own === one));
}

/** The rule for a member as their row has them. */
export type CanAccessClient = (client: AccessRequirement, user: Pick<User, 'planId' | 'trialUntil'>) => boolean;

export const createCanAccessClient =
  (claimsOf: GetMembershipClaims): CanAccessClient =>
  (client, user) =>
    !isRestricted(client) || grantsAccess(client, claimsOf(user));

/** What somebody could have: ids of plans, and names of entitlements. */
export interface GrantableAccess {
  plans: readonly string[];
  entitlements: readonly string[];
}

/** What a client app asks for and nobody can have: misspelt, or gone from the catalogue since. */
export function grantsToNobody(client: ClientMetadata, offer: GrantableAccess): GrantableAccess {
  return {
    plans: (client.required_plans ?? []).filter((plan) => !offer.plans.includes(plan)),
    entitlements: (client.required_entitlements ?? []).filter((one) => !offer.entitlements.includes(one)),
  };
}
