import type { User } from '../account/index.ts';
import { consumeLimits, type LimitDecision, type LimitRefusal } from '../rate-limits/index.ts';
import type { MembershipDeps } from './deps.ts';
import { asking, refusalOf } from './stripe.ts';

type Deps = Pick<MembershipDeps, 'kv' | 'limits'>;

/** Cards are tried out where they are entered and where they are charged (card testing). */
export function admitCard({ kv, limits }: Deps, user: Pick<User, 'id'>, ip: string): Promise<LimitDecision> {
  return consumeLimits(kv, limits.card, { account: user.id, address: ip });
}

/**
 * A card that was entered and then charged is one try. What was counted when it was entered is good for one charge of that very
 * card: the setup intent can be handed in any number of times, and is taken for this once.
 */
const begunKey = (setupIntentId: string) => `card:begun:${setupIntentId}`;
const freshKey = ({ id }: Pick<User, 'id'>, paymentMethodId: string) => `card:fresh:${id}:${paymentMethodId}`;

/** The entering was counted; its setup intent may become a card. */
export const noteBegun = ({ kv, limits }: Deps, setupIntentId: string): Promise<void> =>
  kv.set(begunKey(setupIntentId), '1', limits.card.window);

/** It has become one. */
export async function noteEntered(
  deps: Deps,
  user: Pick<User, 'id'>,
  setupIntentId: string,
  paymentMethodId: string,
): Promise<void> {
  if ((await deps.kv.take(begunKey(setupIntentId))) !== null) await noteFresh(deps, user, paymentMethodId);
}

/** The card's entering was counted, and it has not been charged since. */
export const noteFresh = ({ kv, limits }: Deps, user: Pick<User, 'id'>, paymentMethodId: string): Promise<void> =>
  kv.set(freshKey(user, paymentMethodId), '1', limits.card.window);

/**
 * Stripe says that a card was not accepted at a setup intent. Its first was counted when it was begun; pages of this site begin
 * another for the next. Whoever goes on with the same one, straight at Stripe, is counted here, and at the limit it is taken away.
 * @throws {BillingUnavailable}
 */
export async function noteRefusedEntry(
  { kv, limits, stripe, log }: Deps & Pick<MembershipDeps, 'stripe' | 'log'>,
  userId: string,
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
    await asking(stripe, (client) => client.setupIntents.cancel(setupIntentId));
  } catch (error) {
    // It has become a card in this very moment, or was cancelled before.
    if (!refusalOf(error)) throw error;
  }
}

/** Before a card is charged because a member has said so. */
export async function admitCharge(
  deps: Deps,
  user: Pick<User, 'id'>,
  ip: string,
  paymentMethodId: string | undefined,
): Promise<{ allowed: true } | LimitRefusal> {
  const counted = paymentMethodId !== undefined && (await deps.kv.take(freshKey(user, paymentMethodId))) !== null;
  return counted ? { allowed: true } : admitCard(deps, user, ip);
}
