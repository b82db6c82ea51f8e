import type { Request, Response } from 'express';
import { HttpError, readFormField } from '../../http/index.ts';
import type { PurchaseResult } from '../results.ts';
import { answerPurchase, runWithStripe } from './answer-purchase.ts';
import type { CheckoutContext, CheckoutHandler } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { createSetupIntent } from './create-setup-intent.ts';
import { type PaymentPageState, renderPaymentPage } from './payment-handlers.ts';
import { readDisplayedQuote } from './quote-view.ts';

/** POST …/setup, by the card form's script. */
export function startCardSetup(deps: CheckoutDeps): CheckoutHandler {
  return (req, res, { user }) => createSetupIntent(deps, req, res, user);
}

type Rerender = (state: PaymentPageState) => Promise<void>;

/** Saves the confirmed card as the user's. @returns whether it was saved; if not, the page shows why */
async function saveCard(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
  rerender: Rerender,
): Promise<boolean> {
  const keepCard = () => deps.membership.keepCard(context.user, readFormField(req, 'setupIntent'));
  const answered = await runWithStripe(deps, req, res, { act: 'update', rerender }, keepCard);
  if (!answered) return false;
  const { value: result } = answered;
  if (result.kind === 'declined') await rerender({ status: 402, problem: { text: result.message } });
  if (result.kind === 'not-confirmed') {
    const { t } = req;
    await rerender({ status: 400, problem: { text: t('payment.errors.notConfirmed') } });
  }
  return result.kind === 'saved';
}

/** POST: saves and charges a new card, charges the saved one, or reads the result of a payment. */
export function submitPayment(deps: CheckoutDeps): CheckoutHandler {
  const { membership } = deps;
  return async (req, res, context) => {
    const act = readFormField(req, 'act');
    if (!['', 'save-card', 'outcome'].includes(act)) {
      throw new HttpError('badRequest', { detail: 'unknown form action' });
    }
    const names = ['act', 'planId', 'dueCents', 'setupIntent'].filter((name) => readFormField(req, name) !== '');
    const retryFields = Object.fromEntries(names.map((name) => [name, readFormField(req, name)]));
    const rerender: Rerender = (state) => renderPaymentPage(deps, req, res, context, { ...state, retryFields });
    if (act === 'save-card' && !(await saveCard(deps, req, res, context, rerender))) return;
    const work = (): Promise<PurchaseResult> =>
      act === 'outcome'
        ? membership.outcome(context.user)
        : membership.confirm(context.user, readDisplayedQuote(req), { ip: req.ip ?? '' });
    const answered = await runWithStripe(deps, req, res, { act: 'confirm', rerender }, work);
    if (answered) await answerPurchase(deps, req, res, context, answered.value, rerender);
  };
}
