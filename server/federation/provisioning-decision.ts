import type { NormalisedEmail } from '../shared/index.ts';
import { findCurrentUser, findUserByIdentifier, type User } from '../users/index.ts';
import type { FederationDeps } from './deps.ts';
import type { RefusalKind, UpstreamIdentity } from './identity.ts';
import { type FederatedIdentity, findIdentity } from './identity-store.ts';
import type { Provider } from './providers.ts';
import { isSamePerson } from './same-person.ts';

/** The decision about a federated sign-in. */
export type ProvisioningDecision =
  | { kind: 'sign-in'; user: User; link: FederatedIdentity }
  /** The subject is linked, but may now belong to another person: the user must prove the account in another way. */
  | { kind: 'prove'; user: User; link: FederatedIdentity }
  /** No user has this identity or address, and the provider vouches for the address. */
  | { kind: 'create'; email: NormalisedEmail }
  /** The same, but the address must be confirmed first. */
  | { kind: 'confirm'; email: NormalisedEmail }
  /**
   * An unconfirmed account with this address: the user who proves the address gets it, and its creator's password and
   * sessions end.
   */
  | { kind: 'claim'; user: User }
  /** A user has this confirmed address: linked once the account is proven. */
  | { kind: 'offer'; user: User }
  | { kind: 'refuse'; why: RefusalKind };

/** The known facts about an identity. */
export interface ProvisioningFacts {
  link: FederatedIdentity | undefined;
  /** The link's user; undefined without a link. */
  linked: User | undefined;
  /** The user with the identity's address. */
  sameAddress: User | undefined;
}

/** The only rule that decides which user an identity signs in. Pure. */
export function decide(
  identity: UpstreamIdentity,
  provider: Pick<Provider, 'signUp'>,
  facts: ProvisioningFacts,
): ProvisioningDecision {
  const { link, linked, sameAddress } = facts;
  if (link && linked) {
    if (linked.disabledAt !== null) return { kind: 'refuse', why: 'disabled' };
    return { kind: isSamePerson(identity, link, linked) ? 'sign-in' : 'prove', user: linked, link };
  }
  const { email, emailVerified } = identity;
  if (email === undefined) return { kind: 'refuse', why: 'no-email' };
  if (sameAddress && emailVerified) {
    if (sameAddress.disabledAt !== null) return { kind: 'refuse', why: 'disabled' };
    return { kind: sameAddress.emailVerified ? 'offer' : 'claim', user: sameAddress };
  }
  if (!provider.signUp) return { kind: 'refuse', why: 'sign-up-closed' };
  // For an unverified address nothing is revealed here, whether a user has it or not: sign-up/ has the rule for that.
  return emailVerified ? { kind: 'create', email } : { kind: 'confirm', email };
}

export async function loadFacts(
  { database }: Pick<FederationDeps, 'database'>,
  identity: UpstreamIdentity,
): Promise<ProvisioningFacts> {
  const { db } = database;
  const { email } = identity;
  // In this order: if another tab creates the user with the same identity meanwhile, the later look-up finds the new
  // link, and the user is not asked to link it again.
  const sameAddress = email === undefined ? undefined : await findUserByIdentifier(db, { email });
  const link = await findIdentity(db, identity);
  const linked = link && (await findCurrentUser(database, link.userId));
  return { link, linked, sameAddress };
}
