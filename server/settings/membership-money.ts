import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { formatAmount } from '../../views/format.ts';
import { PayUnpaidPage } from '../../views/settings/membership-act-pages.tsx';
import type { ActProblem } from '../../views/settings/settings-act.tsx';
import { membershipPath } from '../../views/settings/tabs.ts';
import { cardPage, sendBankQuestion, tooManyTries } from '../checkout/index.ts';
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
  problem: ActProblem;
}

/** GET /settings/membership/pay, and again after a POST that did not work. */
async function sendPay(deps: SettingsDeps, req: Request, res: Response, { user }: SignedIn, given?: Again) {
  const { membership, pages } = deps;
  const again: Partial<Again> | undefined = pages.shownAt(req, res, payPath, given ?? {});
  if (!again) return;
  const { catalogue } = membership;
  const standing = await membership.standing(user.id);
  const unpaid = standing?.unpaid;
  const plan = catalogue.byId(standing?.pricedPlanId) ?? catalogue.byId(standing?.paidPlanId);
  if (!unpaid || !plan) return res.redirect(303, membershipAfter('nothing'));
  pages.send(
    req,
    res,
    again.status ?? 200,
    (ctx) =>
      createElement(PayUnpaidPage, {
        ctx,
        action: payPath,
        problem: again.problem,
        plan: plan.name,
        amount: formatAmount(ctx.lang, unpaid.amountCents, { currency: catalogue.currency }),
        card: standing.card ?? undefined,
      }),
    { title: (ctx) => ctx.t('membership.pay.title'), address: payPath },
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
    const { t } = req;
    const again = (shown: Again) => sendPay(deps, req, res, member, shown);
    const asksOutcome = field(req, 'act') === 'outcome';
    const work = async (): Promise<Confirmed | 'waiting'> =>
      asksOutcome ? outcome(deps, member) : deps.membership.payUnpaid(member.user, { ip: req.ip ?? '' });
    const answered = await unlessAway(deps, [req, res], 'checkout.away.confirm', again, work);
    if (!answered) return;
    const { value } = answered;
    if (value === 'waiting') {
      return again({ status: 402, problem: { text: t('membership.pay.notYet') } });
    }
    switch (value.kind) {
      case 'action':
        return sendBankQuestion(deps, req, res, member.user, {
          clientSecret: value.clientSecret,
          amountCents: value.amountCents,
          hostedInvoiceUrl: (await deps.membership.standing(member.user.id))?.unpaid?.url ?? undefined,
          ...{ action: payPath, retryFields: {}, otherCardHref: cardPath, back: membershipPath },
        });
      case 'declined':
        return again({
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
        return again({ status: 429, problem: { text: tooManyTries(t, value.retryAfterMs) } });
      default:
        return res.redirect(303, membershipAfter(value.kind === 'paid' || asksOutcome ? 'paid' : 'nothing'));
    }
  };
}

/** POST by the card form's script: a script cannot be led to another page and back. */
const beginSetup =
  (deps: SettingsDeps, begin: MemberHandler): MemberHandler =>
  (req, res, member) => {
    if (isRecent(member, deps.now())) return begin(req, res, member);
    res.status(403).json({ message: req.t('membership.card.again') });
  };

/** What is charged, and to which card: by who has shown lately who they are. */
export function membershipMoneyRoutes(router: Router, deps: SettingsDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  const ways = { action: cardPath, setup: setupPath, back: membershipPath, done: membershipAfter('card') };
  const card = cardPage(deps, ways);
  router
    .route(payPath)
    .all(whereSold(deps))
    .get(recently(deps, (req, res, member) => sendPay(deps, req, res, member)))
    .post(recently(deps, submitPay(deps)))
    .all(only);
  router.route(cardPath).all(whereSold(deps)).get(recently(deps, card.show)).post(recently(deps, card.save)).all(only);
  router
    .route(setupPath)
    .all(whereSold(deps))
    .post(forMember(deps, beginSetup(deps, card.begin)))
    .all(methodNotAllowed('POST'));
}
