import type { ActionProblem } from '../../../views/account/account-action.tsx';
import { PayUnpaidPage } from '../../../views/account/cancel-membership-pages.tsx';
import { membershipPath } from '../../../views/account/tabs.ts';
import { formatAmount } from '../../../views/format.ts';
import type { PurchaseResult } from '../../billing/index.ts';
import { cardPage, renderPaymentAction, tooManyText } from '../../billing/index.ts';
import type { AddPage } from '../../http/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { membershipPageUrl } from '../notices.ts';
import { isRecentlyAuthenticated, requireRecentAuth } from '../recent-auth-guard.ts';
import { runWithStripe } from './cancel-and-resume-handlers.ts';

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
  r: UserRequest,
  { membership }: AccountDeps,
  view: Partial<PayInvoicePageState>,
): Promise<void> {
  const state = r.viewAt(payPath, view);
  if (!state) return;
  const { catalogue } = membership;
  const currentMembership = await membership.getMembership(r.user.id);
  const unpaid = currentMembership?.unpaid;
  const plan = catalogue.byId(currentMembership?.pricedPlanId) ?? catalogue.byId(currentMembership?.paidPlanId);
  if (!unpaid || !plan) return r.redirect(membershipPageUrl('nothing'));
  r.render(
    PayUnpaidPage,
    {
      action: payPath,
      problem: state.problem,
      plan: plan.name,
      amount: formatAmount(r.lang, unpaid.amountCents, { currency: catalogue.currency }),
      card: currentMembership.card ?? undefined,
    },
    { title: 'membership.pay.title', address: payPath, status: state.status },
  );
}

/** Reads the result of a payment that waited for the bank; charges nothing. */
async function readOutcome(r: UserRequest, { membership }: AccountDeps): Promise<PurchaseResult | 'waiting'> {
  const currentMembership = await membership.refresh(r.user.id);
  return currentMembership?.unpaid ? 'waiting' : { kind: 'no-change', plan: undefined };
}

/** POST: charges the unpaid invoice to the user's card again. */
async function submitPay(r: UserRequest, deps: AccountDeps): Promise<void> {
  const rerender = (view: PayInvoicePageState) => renderPayInvoice(r, deps, view);
  const asksOutcome = r.field('act') === 'outcome';
  const work = async (): Promise<PurchaseResult | 'waiting'> =>
    asksOutcome ? readOutcome(r, deps) : deps.membership.payUnpaid(r.user, { ip: r.ip });
  const answered = await runWithStripe(r, { word: 'checkout.unavailable.confirm', rerender }, work);
  if (answered) await answerPayment(r, deps, { paid: answered.value, asksOutcome });
}

/** Answers each result of a payment. */
async function answerPayment(
  r: UserRequest,
  deps: AccountDeps,
  { paid, asksOutcome }: { paid: PurchaseResult | 'waiting'; asksOutcome: boolean },
): Promise<void> {
  const { t } = r;
  if (paid === 'waiting') {
    return renderPayInvoice(r, deps, { status: 402, problem: { text: t('membership.pay.notYet') } });
  }
  switch (paid.kind) {
    case 'action':
      return renderPaymentAction(r, deps, {
        clientSecret: paid.clientSecret,
        amountCents: paid.amountCents,
        hostedInvoiceUrl: (await deps.membership.getMembership(r.user.id))?.unpaid?.url ?? undefined,
        action: payPath,
        retryFields: {},
        otherCardHref: cardPath,
        back: membershipPath,
      });
    case 'declined': {
      // The card provider's own message.
      const text = paid.message || t('membership.pay.declinedText');
      return renderPayInvoice(r, deps, { status: 402, problem: { title: t('membership.pay.declined'), text } });
    }
    case 'no-card':
      return r.redirect(cardPath);
    case 'too-many':
      r.setRetryAfter(paid.retryAfterMs);
      return renderPayInvoice(r, deps, { status: 429, problem: { text: tooManyText(t, paid.retryAfterMs) } });
    default:
      return r.redirect(membershipPageUrl(paid.kind === 'paid' || asksOutcome ? 'paid' : 'nothing'));
  }
}

const card = cardPage({
  action: cardPath,
  setup: setupPath,
  back: membershipPath,
  done: membershipPageUrl('card'),
});

/** POST by the card form's script: a script cannot be redirected to another page and back. */
async function beginSetup(r: UserRequest, deps: AccountDeps): Promise<void> {
  if (isRecentlyAuthenticated(r, deps.now())) return card.begin(r, deps);
  r.res.status(403).json({ message: r.t('membership.card.reauthenticate') });
}

/** Charges and cards: they need a recent authentication. None without plans on sale. */
export function membershipMoneyRoutes(
  add: AddPage<AccountDeps>,
  { membership }: Pick<AccountDeps, 'membership'>,
): void {
  if (!membership.sold) return;
  add(payPath, {
    get: requireRecentAuth((r, deps: AccountDeps) => renderPayInvoice(r, deps, {})),
    post: requireRecentAuth(submitPay),
  });
  add(cardPath, { get: requireRecentAuth<AccountDeps>(card.show), post: requireRecentAuth<AccountDeps>(card.save) });
  add(setupPath, { post: requireUser(beginSetup) });
}
