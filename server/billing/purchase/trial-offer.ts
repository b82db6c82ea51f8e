import { dayMs, type PlanId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { listOrders } from '../orders/order-store.ts';
import { callStripe, orNotFound } from '../stripe/stripe-client.ts';
import { mailboxHashes, trialHash } from '../subscription/ensure-customer.ts';
import type { Membership, SavedCard } from '../subscription/membership.ts';
import { changeKindByCard } from '../subscription/membership-state.ts';
import { claimTrial, findTrialOwner } from '../subscription/membership-store.ts';
import { quotedMs } from '../subscription/notice-rules.ts';

// The free days with which a paid plan begins (`trialDays`): once for each user, mailbox and card, and only for a user
// who has never paid for a plan.

/** `refused`: the card has had free days, or it is no card, so that this cannot be known. */
interface TrialOffer {
  days?: number;
  refused?: 'card' | 'method';
}

interface Sale {
  membership: Membership;
  plan: Plan;
}

/** The end of free days that begin now, in whole seconds, as Stripe counts. */
export const endOfTrial = (days: number, nowMs: number): number => Math.floor(nowMs / 1_000) * 1_000 + days * dayMs;

/** The announced end holds for half an hour. @returns undefined: it is another one now */
export function findAnnouncedEnd(days: number, announced: number | null, nowMs: number): number | undefined {
  const endsAt = endOfTrial(days, nowMs);
  const holds = announced !== null && announced <= endsAt && announced > endsAt - quotedMs && announced % 1_000 === 0;
  return holds ? announced : undefined;
}

const listMailboxClaims = ({ trialKey }: Pick<BillingDeps, 'trialKey'>, { email }: Pick<User, 'email'>) =>
  mailboxHashes(trialKey, 'plan-email', email).map((valueHash) => ({ kind: 'email', valueHash }) as const);

/** The claim of a card; undefined: it has no fingerprint. @throws {StripeUnavailableError} */
async function readCardClaim({ stripe, trialKey }: BillingDeps, { paymentMethodId }: SavedCard) {
  const method = await callStripe(stripe, (client) => orNotFound(client.paymentMethods.retrieve(paymentMethodId)));
  const fingerprint = method?.card?.fingerprint;
  return fingerprint
    ? ({ kind: 'card', valueHash: trialHash(trialKey, 'plan-card', fingerprint) } as const)
    : undefined;
}

/** Tests for a user who has never paid for a plan or had free days of one, and owes nothing. */
async function isNew({ database }: BillingDeps, { userId, ...membership }: Membership): Promise<boolean> {
  const { triedUntil, paidPlanId, pending, unpaid, balanceCents } = membership;
  if (triedUntil !== null || paidPlanId !== null || pending || unpaid || balanceCents > 0) return false;
  return (await listOrders(database.db, userId)).length === 0;
}

const isFirst = ({ catalogue }: BillingDeps, { membership, plan }: Sale): boolean =>
  changeKindByCard(catalogue, membership, plan) === 'first';

/** The reason for which a new user has no free days; undefined: none. @throws {StripeUnavailableError} */
async function findEarlierUse(
  deps: BillingDeps,
  user: User,
  card: SavedCard | null,
): Promise<'mailbox' | 'card' | 'method' | undefined> {
  const isFree = async (claim: Parameters<typeof findTrialOwner>[1]) =>
    [undefined, user.id].includes(await findTrialOwner(deps.database.db, claim));
  for (const claim of listMailboxClaims(deps, user)) if (!(await isFree(claim))) return 'mailbox';
  if (card === null) return undefined;
  const claim = await readCardClaim(deps, card);
  if (!claim) return 'method';
  return (await isFree(claim)) ? undefined : 'card';
}

/**
 * The free days that the plan begins with for this user; undefined: none. It writes nothing.
 * @throws {StripeUnavailableError}
 */
export async function findTrialOffer(deps: BillingDeps, user: User, sale: Sale): Promise<TrialOffer | undefined> {
  const { membership, plan } = sale;
  if (plan.trialDays === null || !isFirst(deps, sale) || !(await isNew(deps, membership))) return undefined;
  const refused = await findEarlierUse(deps, user, membership.card);
  if (refused === 'mailbox') return undefined;
  return refused === undefined ? { days: plan.trialDays } : { refused };
}

/**
 * The same for plans of a list, by their ids. A debt that only Stripe knows of is not read: the page of a plan names what
 * is due.
 * @throws {StripeUnavailableError}
 */
export async function listTrialDays(
  deps: BillingDeps,
  user: User,
  { membership, plans }: { membership: Membership | undefined; plans: readonly Plan[] },
): Promise<ReadonlyMap<PlanId, number>> {
  const days = new Map<PlanId, number>();
  if (membership === undefined) return days;
  for (const plan of plans) {
    if (plan.trialDays !== null && isFirst(deps, { membership, plan })) days.set(plan.id, plan.trialDays);
  }
  if (days.size === 0 || !(await isNew(deps, membership))) return new Map();
  return (await findEarlierUse(deps, user, membership.card)) === undefined ? days : new Map();
}

class TakenError extends Error {}

/**
 * Marks mailbox and card as having had their free days: all or none of them, so that of two users one wins.
 * @returns false: another user has had them
 * @throws {StripeUnavailableError}
 */
export async function claimPlanTrial(deps: BillingDeps, user: User, card: SavedCard): Promise<boolean> {
  const { database, now } = deps;
  const cardClaim = await readCardClaim(deps, card);
  if (!cardClaim) return false;
  try {
    await database.transaction(async (trx) => {
      for (const claim of [...listMailboxClaims(deps, user), cardClaim]) {
        if (!(await claimTrial(trx, { ...claim, userId: user.id }, now()))) throw new TakenError();
      }
    });
    return true;
  } catch (error) {
    if (!(error instanceof TakenError)) throw error;
    return false;
  }
}
