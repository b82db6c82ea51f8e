import { consumeLimits, type LimitDecision, type LimitRefusal } from '../rate-limits/index.ts';
import type { UserId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { BillingDeps } from './deps.ts';
import { callStripe, toStripeRefusal } from './stripe-client.ts';

type Deps = Pick<BillingDeps, 'kv' | 'limits'>;

/** Cards are tried out where they are entered and where they are charged (card testing). */
export function consumeCard({ kv, limits }: Deps, user: Pick<User, 'id'>, ip: string): Promise<LimitDecision> {
  return consumeLimits(kv, limits.card, { account: user.id, address: ip });
}

/**
 * A card that was entered and then charged is one try. What was counted when it was entered is good for one charge of that very
 * card: the setup intent can be handed in any number of times, and is taken for this once.
 */
const cardEntryKey = (setupIntentId: string) => `card:begun:${setupIntentId}`;
const freshCardKey = ({ id }: Pick<User, 'id'>, paymentMethodId: string) => `card:fresh:${id}:${paymentMethodId}`;

/** The entering was counted; its setup intent may become a card. */
export const recordCardEntry = ({ kv, limits }: Deps, setupIntentId: string): Promise<void> =>
  kv.set(cardEntryKey(setupIntentId), '1', limits.card.window);

/** It has become one. */
export async function recordEnteredCard(
  deps: Deps,
  user: Pick<User, 'id'>,
  setupIntentId: string,
  paymentMethodId: string,
): Promise<void> {
  if ((await deps.kv.takeOnce(cardEntryKey(setupIntentId))) !== null)
    await recordFreshCard(deps, user, paymentMethodId);
}

/** The card's entering was counted, and it has not been charged since. */
export const recordFreshCard = ({ kv, limits }: Deps, user: Pick<User, 'id'>, paymentMethodId: string): Promise<void> =>
  kv.set(freshCardKey(user, paymentMethodId), '1', limits.card.window);

/**
 * Stripe says that a card was not accepted at a setup intent. Its first was counted when it was begun; pages of this site begin
 * another for the next. Whoever goes on with the same one, straight at Stripe, is counted here, and at the limit it is taken away.
 * @throws {BillingUnavailable}
 */
export async function recordRefusedCard(
  { kv, limits, stripe, log }: Deps & Pick<BillingDeps, 'stripe' | 'log'>,
  userId: UserId,
  setupIntentId: string,
): Promise<void> {
  if (await kv.setIfAbsent(`card:refused:${setupIntentId}`, '1', limits.card.window)) return;
  const decision = await consumeLimits(kv, limits.refusedCard, { account: userId });
  if (decision.allowed) return;
  log.warn(
    { act: 'card-testing', setupIntent: setupIntentId },
    'card after card was tried at one setup intent: it is cancelled',
  );
  try {
    await callStripe(stripe, (client) => client.setupIntents.cancel(setupIntentId));
  } catch (error) {
    // It has become a card in this very moment, or was cancelled before.
    if (!toStripeRefusal(error)) throw error;
  }
}

/** Before a card is charged because a member has said so. */
export async function consumeCharge(
  deps: Deps,
  user: Pick<User, 'id'>,
  ip: string,
  paymentMethodId: string | undefined,
): Promise<{ allowed: true } | LimitRefusal> {
  const counted =
    paymentMethodId !== undefined && (await deps.kv.takeOnce(freshCardKey(user, paymentMethodId))) !== null;
  return counted ? { allowed: true } : consumeCard(deps, user, ip);
}
