import type { Request, Response } from 'express';
import { field, HttpError } from '../http/index.ts';
import type { Confirmed } from '../membership/index.ts';
import { beginCard } from './begin-card.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Here, PlaceHandler } from './here.ts';
import { type PaymentShown, sendPaymentPage } from './payment-page.ts';
import { announcedOf } from './quote.ts';
import { respond, unlessAway } from './respond.ts';

/** POST …/setup, by the card form's script. */
export function beginCardSetup(deps: CheckoutDeps): PlaceHandler {
  return (req, res, { user }) => beginCard(deps, req, res, user);
}

type ShowAgain = (shown: PaymentShown) => Promise<void>;

/** The card that Stripe has checked becomes the member's. @returns whether it has; if not, the page has said why */
async function saveCard(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  here: Here,
  again: ShowAgain,
): Promise<boolean> {
  const keepCard = () => deps.membership.keepCard(here.user, field(req, 'setupIntent'));
  const answered = await unlessAway(deps, req, res, { act: 'update', again }, keepCard);
  if (!answered) return false;
  const { value: result } = answered;
  if (result.kind === 'declined') await again({ status: 402, problem: { text: result.message } });
  if (result.kind === 'not-confirmed') {
    const { t } = req;
    await again({ status: 400, problem: { text: t('payment.errors.notConfirmed') } });
  }
  return result.kind === 'saved';
}

/** POST: a card that Stripe has checked is saved and charged; the saved one is charged; what has become of a payment. */
export function submitPayment(deps: CheckoutDeps): PlaceHandler {
  const { membership } = deps;
  return async (req, res, here) => {
    const act = field(req, 'act');
    if (!['', 'save-card', 'outcome'].includes(act)) {
      throw new HttpError('badRequest', { detail: 'act is none of this page' });
    }
    const names = ['act', 'planId', 'dueCents', 'setupIntent'].filter((name) => field(req, name) !== '');
    const retryFields = Object.fromEntries(names.map((name) => [name, field(req, name)]));
    const again: ShowAgain = (shown) => sendPaymentPage(deps, req, res, here, { ...shown, retryFields });
    if (act === 'save-card' && !(await saveCard(deps, req, res, here, again))) return;
    const work = (): Promise<Confirmed> =>
      act === 'outcome'
        ? membership.outcome(here.user)
        : membership.confirm(here.user, announcedOf(req), { ip: req.ip ?? '' });
    const answered = await unlessAway(deps, req, res, { act: 'confirm', again }, work);
    if (answered) await respond(deps, req, res, here, answered.value, again);
  };
}
