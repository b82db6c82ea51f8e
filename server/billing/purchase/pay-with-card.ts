import type { User } from '../../users/index.ts';
import { type CardOwner, forgetOtherCards, readEnteredCard, type SavedEntry, saveEnteredCard } from '../cards/card.ts';
import type { BillingDeps } from '../deps.ts';
import { CardNotSavedError, type CardPaymentResult, StripeUnavailableError } from '../results.ts';
import { toSubscriptionStatus } from '../stripe/stripe-objects.ts';
import { type ChangeableSubscription, findCustomer, toChangeable } from '../subscription/changeable-subscription.ts';
import { readMember, syncMember } from '../subscription/sync-from-stripe.ts';
import { type Confirmation, confirmPurchase } from './confirm-purchase.ts';

/** These read the user at their end. */
const readsAfter: ReadonlySet<string> = new Set(['paid', 'action', 'declined', 'scheduled', 'processing']);

/** Saves the entered card as it reads the user. @throws {CardNotSavedError} */
async function saveCard(deps: BillingDeps, user: User, setupIntentId: string) {
  try {
    const customer = await findCustomer(deps, user);
    const [reading, entered] = await Promise.all([readMember(deps, user.id), readEnteredCard(deps, setupIntentId)]);
    const live = reading && toChangeable(reading);
    const owner = live ?? customer;
    return { live, owner, saved: await saveEnteredCard(deps, owner, entered) };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    throw new CardNotSavedError(error.message, { cause: error });
  }
}

/** The subscription as it was read, with the card; undefined: it must be resumed, and read again. */
function withCard(
  live: ChangeableSubscription,
  { card, afterTrial }: Pick<SavedEntry, 'card' | 'afterTrial'>,
): ChangeableSubscription | undefined {
  const { membership } = live;
  if (membership.status === 'paused') return undefined;
  if (!afterTrial) return { ...live, membership: { ...membership, card } };
  const status = toSubscriptionStatus(afterTrial);
  return { ...live, subscription: afterTrial, membership: { ...membership, card, status } };
}

/** The next card that is saved removes what stays. */
async function forgetFormerCards(deps: BillingDeps, owner: CardOwner, keptId: string): Promise<void> {
  await forgetOtherCards(deps, owner, keptId).catch((error: unknown) => {
    deps.log.warn({ err: error, act: 'card', member: owner.membership.userId }, 'could not remove a former card');
  });
}

/**
 * Saves the card that the browser has confirmed, and pays with it: one act, which reads the user once before it and once
 * after it.
 * @throws {StripeUnavailableError}
 */
export async function payWithCard(
  deps: BillingDeps,
  { setupIntentId, ...confirmation }: Confirmation & { setupIntentId: string },
): Promise<CardPaymentResult> {
  const { live, owner, saved } = await saveCard(deps, confirmation.user, setupIntentId);
  if (saved.kind !== 'saved') return { kind: 'card-refused', saved };
  const { card } = saved;
  const [result] = await Promise.all([
    confirmPurchase(deps, { ...confirmation, live: live && withCard(live, saved) }),
    forgetFormerCards(deps, owner, card.paymentMethodId),
  ]);
  if (!readsAfter.has(result.kind)) await syncMember(deps, owner.membership.userId);
  return result;
}
