import { findCurrentUser, findUserByIdentifier, type User } from '../users/index.ts';
import type { FederationDeps } from './deps.ts';
import type { RefusalKind, UpstreamIdentity } from './identity.ts';
import { type FederatedIdentity, findIdentity } from './identity-store.ts';
import type { Provider } from './providers.ts';
import { isSamePerson } from './same-person.ts';

/** What a sign-in by a provider comes to. */
export type ProvisioningDecision =
  | { kind: 'sign-in'; user: User; link: FederatedIdentity }
  /** The subject is linked, but may be another person's by now: the member has to prove the account by another way. */
  | { kind: 'prove'; user: User; link: FederatedIdentity }
  /** Nobody here has this identity or address, and the provider vouches for the address. */
  | { kind: 'create'; email: string }
  /** The same, but the address is to be confirmed first. */
  | { kind: 'confirm'; email: string }
  /**
   * An account with this address that nobody has ever confirmed: whoever can show the address has it, and its creator's
   * password and sessions go.
   */
  | { kind: 'take-over'; user: User }
  /** A member has this confirmed address: linked once the account is proven. */
  | { kind: 'offer'; user: User }
  | { kind: 'refuse'; why: RefusalKind };

/** What is known of an identity when it is decided. */
export interface ProvisioningFacts {
  link: FederatedIdentity | undefined;
  /** The link's member; undefined without a link. */
  linked: User | undefined;
  /** The member with the identity's address. */
  sameAddress: User | undefined;
}

/** The one rule of who gets in as whom. Pure. */
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
    return { kind: sameAddress.emailVerified ? 'offer' : 'take-over', user: sameAddress };
  }
  if (!provider.signUp) return { kind: 'refuse', why: 'sign-up-closed' };
  // Of an address that is not vouched for nothing is told here, whoever's it is: sign-up/ has the rule for that.
  return emailVerified ? { kind: 'create', email } : { kind: 'confirm', email };
}

export async function loadFacts(
  { database }: Pick<FederationDeps, 'database'>,
  identity: UpstreamIdentity,
): Promise<ProvisioningFacts> {
  const { db } = database;
  const { email } = identity;
  // In this order: whoever becomes a member meanwhile, by the same identity in another tab, is found with the link that came
  // with them, and is not asked to link what is linked.
  const sameAddress = email === undefined ? undefined : await findUserByIdentifier(db, { email });
  const link = await findIdentity(db, identity);
  const linked = link && (await findCurrentUser(database, link.userId));
  return { link, linked, sameAddress };
}
