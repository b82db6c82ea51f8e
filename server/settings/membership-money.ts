import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { formatAmount } from '../../views/format.ts';
import type { PageContext } from '../../views/page-context.ts';
import { ChangeCardPage, ConfirmUnpaidPage, PayUnpaidPage } from '../../views/settings/membership-act-pages.tsx';
import type { ActProblem } from '../../views/settings/settings-act.tsx';
import { membershipPath } from '../../views/settings/tabs.ts';
import { beginCard, planLine, stripeInPage, stripePolicy, tooManyTries } from '../checkout/index.ts';
import { field, methodNotAllowed, setRetryAfter } from '../http/index.ts';
import type { Confirmed } from '../membership/index.ts';
import type { SettingsDeps } from './deps.ts';
import { forMember, isRecent, type MemberHandler, recently, type SignedIn } from './guard.ts';
import { unlessAway, whereSold } from './membership-acts.ts';
import { membershipAfter } from './notices.ts';

const payPath = `${membershipPath}/pay`;
const cardPath = `${membershipPath}/card`;
const setupPath = `${cardPath}/setup`;

/** How a page is shown again after an act that did not work. */
interface Again {
  status: number;
  problem: (ctx: PageContext) => ActProblem;
}

/** GET /settings/membership/pay, and again after a POST that did not work. */
async function sendPay(deps: SettingsDeps, req: Request, res: Response, { user }: SignedIn, again?: Again) {
  const { membership, pages } = deps;
  const { catalogue } = membership;
  const standing = await membership.standing(user.id);
  const unpaid = standing?.unpaid;
  const plan = catalogue.byId(standing?.pricedPlanId) ?? catalogue.byId(standing?.paidPlanId);
  if (!unpaid || !plan) return res.redirect(303, membershipAfter('nothing'));
  pages.send(
    req,
    res,
    again?.status ?? 200,
    (ctx) =>
      createElement(PayUnpaidPage, {
        ctx,
        action: payPath,
        problem: again?.problem(ctx),
        plan: planLine(ctx.t, plan),
        amount: formatAmount(ctx.lang, unpaid.amountCents, { currency: catalogue.currency }),
        card: standing.card ?? undefined,
      }),
    { title: (ctx) => ctx.t('membership.pay.title'), address: payPath },
  );
}

async function sendBankQuestion(
  deps: SettingsDeps,
  req: Request,
  res: Response,
  { user }: SignedIn,
  { clientSecret, amountCents }: Extract<Confirmed, { kind: 'action' }>,
): Promise<void> {
  const { membership, stripe, pages } = deps;
  const standing = await membership.standing(user.id);
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(ConfirmUnpaidPage, {
        ctx,
        action: payPath,
        stripe: stripeInPage(stripe, ctx.lang),
        clientSecret,
        paymentMethodId: standing?.card?.paymentMethodId,
        amount: formatAmount(ctx.lang, amountCents, { currency: membership.catalogue.currency }),
        hostedInvoiceUrl: standing?.unpaid?.url ?? undefined,
      }),
    { title: (ctx) => ctx.t('payment.bank.title'), address: payPath, policy: stripePolicy(stripe) },
  );
}

/** Looks at what has become of a payment that waited for the bank; charges nothing. */
async function outcome({ membership }: SettingsDeps, { user }: SignedIn): Promise<Confirmed | 'waiting'> {
  const standing = await membership.refresh(user.id);
  return standing?.unpaid ? 'waiting' : { kind: 'nothing', plan: undefined };
}

/** POST: charges what could not be charged to the member's card once more. */
function submitPay(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const again = (shown: Again) => sendPay(deps, req, res, member, shown);
    const asksOutcome = field(req, 'act') === 'outcome';
    const work = async (): Promise<Confirmed | 'waiting'> =>
      asksOutcome ? outcome(deps, member) : deps.membership.payUnpaid(member.user, { ip: req.ip ?? '' });
    const answered = await unlessAway(deps, res, 'checkout.away.confirm', again, work);
    if (!answered) return;
    const { value } = answered;
    if (value === 'waiting') {
      return again({ status: 402, problem: ({ t }) => ({ text: t('membership.pay.notYet') }) });
    }
    switch (value.kind) {
      case 'action':
        return sendBankQuestion(deps, req, res, member, value);
      case 'declined':
        return again({
          status: 402,
          problem: ({ t }) => ({
            title: t('membership.pay.declined'),
            // The card provider's own message.
            text: value.message || t('membership.pay.declinedText'),
          }),
        });
      case 'no-card':
        return res.redirect(303, cardPath);
      case 'too-many':
        setRetryAfter(res, value.retryAfterMs);
        return again({ status: 429, problem: ({ t }) => ({ text: tooManyTries(t, value.retryAfterMs) }) });
      default:
        return res.redirect(303, membershipAfter(value.kind === 'paid' || asksOutcome ? 'paid' : 'nothing'));
    }
  };
}

/** GET /settings/membership/card, and again after a card that was not accepted. */
async function sendCard(deps: SettingsDeps, req: Request, res: Response, { user }: SignedIn, again?: Again) {
  const { membership, stripe, pages } = deps;
  const card = (await membership.standing(user.id))?.card ?? undefined;
  pages.send(
    req,
    res,
    again?.status ?? 200,
    (ctx) =>
      createElement(ChangeCardPage, {
        ctx,
        action: cardPath,
        problem: again?.problem(ctx),
        stripe: stripeInPage(stripe, ctx.lang),
        setupUrl: setupPath,
        card,
      }),
    {
      title: (ctx) => ctx.t(card ? 'payment.change.title' : 'membership.act.addCard'),
      address: cardPath,
      policy: stripePolicy(stripe),
    },
  );
}

/** POST: the card that Stripe has checked is the one that is charged from now on. */
function submitCard(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const again = (shown: Again) => sendCard(deps, req, res, member, shown);
    const save = () => deps.membership.keepCard(member.user, field(req, 'setupIntent'));
    const answered = await unlessAway(deps, res, 'checkout.away.update', again, save);
    if (!answered) return;
    const { value: saved } = answered;
    if (saved.kind === 'saved') return res.redirect(303, membershipAfter('card'));
    const declined = saved.kind === 'declined';
    await again({
      status: declined ? 402 : 400,
      problem: ({ t }) =>
        declined
          ? { title: t('payment.errors.declinedTitle'), text: saved.message }
          : { text: t('payment.errors.notConfirmed') },
    });
  };
}

/** POST by the card form's script: `{clientSecret}` of a setup intent, else `{message}`. */
const beginSetup =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, member) => {
    // A script cannot be led to another page and back.
    if (isRecent(member, deps.now())) return beginCard(deps, req, res, member.user);
    res.status(403).json({ message: deps.pages.context(req, res).t('membership.card.again') });
  };

/** What is charged, and to which card: by who has shown lately who they are. */
export function membershipMoneyRoutes(router: Router, deps: SettingsDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(payPath)
    .all(whereSold(deps))
    .get(recently(deps, (req, res, member) => sendPay(deps, req, res, member)))
    .post(recently(deps, submitPay(deps)))
    .all(only);
  router
    .route(cardPath)
    .all(whereSold(deps))
    .get(recently(deps, (req, res, member) => sendCard(deps, req, res, member)))
    .post(recently(deps, submitCard(deps)))
    .all(only);
  router
    .route(setupPath)
    .all(whereSold(deps))
    .post(forMember(deps, beginSetup(deps)))
    .all(methodNotAllowed('POST'));
}
