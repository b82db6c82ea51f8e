import { HttpError } from '../../http/index.ts';
import type { PurchaseResult } from '../results.ts';
import { answerPurchase } from './answer-purchase.ts';
import type { CheckoutRequest } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { createSetupIntent } from './create-setup-intent.ts';
import { type PaymentPageState, renderPaymentPage } from './payment-handlers.ts';
import { readDisplayedQuote } from './quote-view.ts';
import { runWithStripe } from './run-or-rerender.ts';

/** POST …/setup, by the card form's script. */
export const startCardSetup = (r: CheckoutRequest, deps: CheckoutDeps) => createSetupIntent(r, deps, r.checkout.user);

type Rerender = (state: PaymentPageState) => Promise<void>;

/** Saves the confirmed card as the user's. @returns whether it was saved; if not, the page shows why */
async function saveCard(r: CheckoutRequest, deps: CheckoutDeps, rerender: Rerender): Promise<boolean> {
  const keepCard = () => deps.membership.keepCard(r.checkout.user, r.field('setupIntent'));
  const answered = await runWithStripe(r, { act: 'update', rerender }, keepCard);
  if (!answered) return false;
  const { value: result } = answered;
  if (result.kind === 'declined') await rerender({ status: 402, problem: { text: result.message } });
  if (result.kind === 'not-confirmed') {
    await rerender({ status: 400, problem: { text: r.t('payment.errors.notConfirmed') } });
  }
  return result.kind === 'saved';
}

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
  const rerender: Rerender = (state) => renderPaymentPage(r, deps, { ...state, retryFields });
  if (act === 'save-card' && !(await saveCard(r, deps, rerender))) return;
  const work = (): Promise<PurchaseResult> =>
    act === 'outcome' ? membership.outcome(user) : membership.confirm(user, readDisplayedQuote(r), { ip: r.ip });
  const answered = await runWithStripe(r, { act: 'confirm', rerender }, work);
  if (answered) await answerPurchase(r, deps, { confirmed: answered.value, rerender });
}
