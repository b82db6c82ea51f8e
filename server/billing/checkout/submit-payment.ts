import { HttpError } from '../../http/index.ts';
import type { CardPaymentResult } from '../results.ts';
import { answerPurchase } from './answer-purchase.ts';
import type { CheckoutRequest } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { createSetupIntent } from './create-setup-intent.ts';
import { type PaymentPageState, renderPaymentPage } from './payment-handlers.ts';
import { readDisplayedQuote } from './quote-view.ts';
import { runWithStripe } from './run-or-rerender.ts';

/** POST …/setup, by the card form's script. */
export const startCardSetup = (r: CheckoutRequest, deps: CheckoutDeps) => createSetupIntent(r, deps, r.checkout.user);

/** POST: saves and charges a new card, charges the saved one, or reads the result of a payment. */
export async function submitPayment(r: CheckoutRequest, deps: CheckoutDeps) {
  const { membership } = deps;
  const { user } = r.checkout;
  const act = r.field('act');
  if (!['', 'save-card', 'outcome'].includes(act)) {
    throw new HttpError('badRequest', { detail: 'unknown form action' });
  }
  const names = ['act', 'planId', 'dueCents', 'setupIntent'].filter((name) => r.field(name) !== '');
  const retryFields = Object.fromEntries(names.map((name) => [name, r.field(name)]));
  const rerender = (state: PaymentPageState) => renderPaymentPage(r, deps, { ...state, retryFields });
  const work = (): Promise<CardPaymentResult> => {
    if (act === 'outcome') return membership.outcome(user);
    const [announced, from] = [readDisplayedQuote(r), { ip: r.ip }];
    return act === 'save-card'
      ? membership.payWithCard(user, { setupIntentId: r.field('setupIntent'), announced }, from)
      : membership.confirm(user, announced, from);
  };
  const answered = await runWithStripe(r, { act: 'confirm', rerender }, work);
  if (!answered) return;
  const { value: result } = answered;
  if (result.kind !== 'card-refused') return answerPurchase(r, deps, { confirmed: result, rerender });
  const { saved } = result;
  return saved.kind === 'declined'
    ? rerender({ status: 402, problem: { text: saved.message } })
    : rerender({ status: 400, problem: { text: r.t('payment.errors.notConfirmed') } });
}
