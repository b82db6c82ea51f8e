import { consumeLimits, type LimitDecision, type LimitRefusal } from '../../http/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';

type Deps = Pick<BillingDeps, 'kv' | 'limits'>;

/** Card testing happens where cards are entered and where they are charged. */
export function consumeCard({ kv, limits }: Deps, user: Pick<User, 'id'>, ip: string): Promise<LimitDecision> {
  return consumeLimits(kv, limits.card, { account: user.id, address: ip });
}

/**
 * Entering a card and then charging it counts as one attempt. The counted entry covers one charge of that very card:
 * the setup intent can be submitted any number of times, but counts only once.
 */
const cardEntryKey = (setupIntentId: string) => `card:begun:${setupIntentId}`;
const freshCardKey = ({ id }: Pick<User, 'id'>, paymentMethodId: string) => `card:fresh:${id}:${paymentMethodId}`;

/** The entry was counted; its setup intent may become a card. */
export const recordCardEntry = ({ kv, limits }: Deps, setupIntentId: string): Promise<void> =>
  kv.set(cardEntryKey(setupIntentId), '1', limits.card.window);

/** The setup intent has become a card. */
export async function recordEnteredCard(
  deps: Deps,
  user: Pick<User, 'id'>,
  { setupIntentId, paymentMethodId }: { setupIntentId: string; paymentMethodId: string },
): Promise<void> {
  if ((await deps.kv.takeOnce(cardEntryKey(setupIntentId))) !== null)
    await recordFreshCard(deps, user, paymentMethodId);
}

/** Tests whether the card's entry was counted and the card has not been charged since. */
export const recordFreshCard = ({ kv, limits }: Deps, user: Pick<User, 'id'>, paymentMethodId: string): Promise<void> =>
  kv.set(freshCardKey(user, paymentMethodId), '1', limits.card.window);

/**
 * Stripe reports that a card was refused at a setup intent. Its first attempt was counted at the start, and Foyer's
 * pages create a new intent for the next. A caller who reuses the same one directly at Stripe is counted here, and at
 * the limit the intent is cancelled.
 * @throws {StripeUnavailableError}
 */
export async function recordRefusedCard(
  { kv, limits, stripe, log }: Deps & Pick<BillingDeps, 'stripe' | 'log'>,
  userId: UserId,
  setupIntentId: string,
): Promise<void> {
  if (await kv.setIfAbsent(`card:refused:${setupIntentId}`, '1', limits.card.window)) return;
  const decision = await consumeLimits(kv, limits.refusedCard, { account: userId });
  if (decision.allowed) return;
  log.warn({ act: 'card-testing', setupIntent: setupIntentId }, 'setup intent cancelled after too many cards');
  try {
    await callStripe(stripe, (client) => client.setupIntents.cancel(setupIntentId));
  } catch (error) {
    // It has just become a card, or was cancelled before.
    if (!toStripeRefusal(error)) throw error;
  }
}

/** Before a user's charge of a card. */
export async function consumeCharge(
  deps: Deps,
  user: Pick<User, 'id'>,
  { ip, paymentMethodId }: { ip: string; paymentMethodId: string | undefined },
): Promise<{ allowed: true } | LimitRefusal> {
  const counted =
    paymentMethodId !== undefined && (await deps.kv.takeOnce(freshCardKey(user, paymentMethodId))) !== null;
  return counted ? { allowed: true } : consumeCard(deps, user, ip);
}
