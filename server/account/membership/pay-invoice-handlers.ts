import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import type { ActionProblem } from '../../../views/account/account-action.tsx';
import { PayUnpaidPage } from '../../../views/account/cancel-membership-pages.tsx';
import { membershipPath } from '../../../views/account/tabs.ts';
import { formatAmount } from '../../../views/format.ts';
import type { PurchaseResult } from '../../billing/index.ts';
import { cardPage, renderPaymentAction, tooManyText } from '../../billing/index.ts';
import { methodNotAllowed, readFormField, setRetryAfter } from '../../http/index.ts';
import type { AccountDeps } from '../deps.ts';
import { membershipPageUrl } from '../notices.ts';
import {
  isRecentlyAuthenticated,
  type MemberHandler,
  requireRecentAuth,
  requireUser,
  type SignedInUser,
} from '../require-recent-auth.ts';
import { onlyWithPlans, runWithStripe } from './cancel-and-resume-handlers.ts';

const payPath = `${membershipPath}/pay`;
const cardPath = `${membershipPath}/card`;
const setupPath = `${cardPath}/setup`;

/** The view of a page after a failed action. */
interface PayInvoicePageState {
  status: number;
  problem: ActionProblem;
}

/** GET /settings/membership/pay, and again after a failed POST. */
async function renderPayInvoice(
  deps: AccountDeps,
  req: Request,
  res: Response,
  { user }: SignedInUser,
  state?: PayInvoicePageState,
) {
  const { membership, pages } = deps;
  const rerender: Partial<PayInvoicePageState> | undefined = pages.shownAt(req, res, payPath, state ?? {});
  if (!rerender) return;
  const { catalogue } = membership;
  const currentMembership = await membership.getMembership(user.id);
  const unpaid = currentMembership?.unpaid;
  const plan = catalogue.byId(currentMembership?.pricedPlanId) ?? catalogue.byId(currentMembership?.paidPlanId);
  if (!unpaid || !plan) return res.redirect(303, membershipPageUrl('nothing'));
  pages.send(
    req,
    res,
    rerender.status ?? 200,
    (ctx) =>
      createElement(PayUnpaidPage, {
        ctx,
        action: payPath,
        problem: rerender.problem,
        plan: plan.name,
        amount: formatAmount(ctx.lang, unpaid.amountCents, { currency: catalogue.currency }),
        card: currentMembership.card ?? undefined,
      }),
    { title: (ctx) => ctx.t('membership.pay.title'), address: payPath },
  );
}

/** Reads the result of a payment that waited for the bank; charges nothing. */
async function outcome({ membership }: AccountDeps, { user }: SignedInUser): Promise<PurchaseResult | 'waiting'> {
  const currentMembership = await membership.refresh(user.id);
  return currentMembership?.unpaid ? 'waiting' : { kind: 'no-change', plan: undefined };
}

/** POST: charges the unpaid invoice to the user's card again. */
function submitPay(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const { t } = req;
    const rerender = (pageState: PayInvoicePageState) => renderPayInvoice(deps, req, res, member, pageState);
    const asksOutcome = readFormField(req, 'act') === 'outcome';
    const work = async (): Promise<PurchaseResult | 'waiting'> =>
      asksOutcome ? outcome(deps, member) : deps.membership.payUnpaid(member.user, { ip: req.ip ?? '' });
    const answered = await runWithStripe(deps, [req, res], 'checkout.unavailable.confirm', rerender, work);
    if (!answered) return;
    const { value } = answered;
    if (value === 'waiting') {
      return rerender({ status: 402, problem: { text: t('membership.pay.notYet') } });
    }
    switch (value.kind) {
      case 'action':
        return renderPaymentAction(deps, req, res, member.user, {
          clientSecret: value.clientSecret,
          amountCents: value.amountCents,
          hostedInvoiceUrl: (await deps.membership.getMembership(member.user.id))?.unpaid?.url ?? undefined,
          action: payPath,
          retryFields: {},
          otherCardHref: cardPath,
          back: membershipPath,
        });
      case 'declined':
        return rerender({
          status: 402,
          problem: {
            title: t('membership.pay.declined'),
            // The card provider's own message.
            text: value.message || t('membership.pay.declinedText'),
          },
        });
      case 'no-card':
        return res.redirect(303, cardPath);
      case 'too-many':
        setRetryAfter(res, value.retryAfterMs);
        return rerender({ status: 429, problem: { text: tooManyText(t, value.retryAfterMs) } });
      default:
        return res.redirect(303, membershipPageUrl(value.kind === 'paid' || asksOutcome ? 'paid' : 'nothing'));
    }
  };
}

/** POST by the card form's script: a script cannot be redirected to another page and back. */
const beginSetup =
  (deps: AccountDeps, begin: MemberHandler): MemberHandler =>
  (req, res, member) => {
    if (isRecentlyAuthenticated(member, deps.now())) return begin(req, res, member);
    res.status(403).json({ message: req.t('membership.card.reauthenticate') });
  };

/** Charges and cards: they need a recent authentication. */
export function membershipMoneyRoutes(router: Router, deps: AccountDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  const ways = { action: cardPath, setup: setupPath, back: membershipPath, done: membershipPageUrl('card') };
  const card = cardPage(deps, ways);
  router
    .route(payPath)
    .all(onlyWithPlans(deps))
    .get(requireRecentAuth(deps, (req, res, member) => renderPayInvoice(deps, req, res, member)))
    .post(requireRecentAuth(deps, submitPay(deps)))
    .all(only);
  router
    .route(cardPath)
    .all(onlyWithPlans(deps))
    .get(requireRecentAuth(deps, card.show))
    .post(requireRecentAuth(deps, card.save))
    .all(only);
  router
    .route(setupPath)
    .all(onlyWithPlans(deps))
    .post(requireUser(deps, beginSetup(deps, card.begin)))
    .all(methodNotAllowed('POST'));
}
