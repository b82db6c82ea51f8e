import { PayUnpaidPage } from '../../../views/account/cancel-membership-pages.tsx';
import { membershipPath } from '../../../views/account/tabs.ts';
import { formatAmount } from '../../../views/format.ts';
import type { PurchaseResult } from '../../billing/index.ts';
import { cardPage, refusalText, renderPaymentAction, tooManyText } from '../../billing/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { membershipPageAfter } from '../notices.ts';
import { isRecentlyAuthenticated, requireRecentAuth } from '../recent-auth-guard.ts';
import { type PageRoute, settingsPage } from '../settings-page.ts';
import { askStripe } from './ask-stripe.ts';

const payPath = `${membershipPath}/pay`;
const cardPath = `${membershipPath}/card`;
const setupPath = `${cardPath}/setup`;

/** Reads the result of a payment that waited for the bank; charges nothing. */
async function readOutcome(r: UserRequest, { membership }: AccountDeps): Promise<PurchaseResult | 'waiting'> {
  const currentMembership = await membership.refresh(r.user.id);
  return currentMembership?.unpaid ? 'waiting' : { kind: 'no-change', plan: undefined };
}

/** Answers each result of a payment. */
async function answerPayment(
  r: UserRequest,
  deps: AccountDeps,
  { paid, asksOutcome }: { paid: PurchaseResult | 'waiting'; asksOutcome: boolean },
) {
  const { t } = r;
  if (paid === 'waiting') return { status: 402, problem: { text: t('membership.pay.notYet') } };
  switch (paid.kind) {
    case 'action':
      await renderPaymentAction(r, deps, {
        clientSecret: paid.clientSecret,
        amountCents: paid.amountCents,
        hostedInvoiceUrl: (await deps.membership.getMembership(r.user.id))?.unpaid?.url ?? undefined,
        action: payPath,
        retryFields: {},
        otherCardHref: cardPath,
        back: membershipPath,
      });
      return undefined;
    case 'declined': {
      return { status: 402, problem: { title: t('membership.pay.declined'), text: refusalText(r, paid) } };
    }
    case 'processing':
      return membershipPath;
    case 'no-card':
      return cardPath;
    case 'too-many':
      r.setRetryAfter(paid.retryAfterMs);
      return { status: 429, problem: { text: tooManyText(t, 'pay', paid.retryAfterMs) } };
    default:
      return membershipPageAfter(paid.kind === 'paid' || asksOutcome ? 'paid' : 'nothing');
  }
}

/** Charges the unpaid invoice to the user's card again. */
const payPage = settingsPage({
  path: payPath,
  title: 'membership.pay.title',
  guard: requireRecentAuth,
  Page: PayUnpaidPage,
  async toProps(r, { membership }) {
    const { catalogue } = membership;
    const currentMembership = await membership.getMembership(r.user.id);
    const unpaid = currentMembership?.unpaid;
    const plan = catalogue.byId(currentMembership?.pricedPlanId) ?? catalogue.byId(currentMembership?.paidPlanId);
    if (!unpaid || !plan) return membershipPageAfter('nothing');
    return {
      plan: plan.name,
      amount: formatAmount(r.lang, unpaid.amountCents, { currency: catalogue.currency }),
      card: currentMembership.card ?? undefined,
    };
  },
  async act(r, deps) {
    const asksOutcome = r.field('act') === 'outcome';
    const work = async (): Promise<PurchaseResult | 'waiting'> =>
      asksOutcome ? readOutcome(r, deps) : deps.membership.payUnpaid(r.user, { ip: r.ip });
    const answered = await askStripe(r, work);
    return 'status' in answered ? answered : answerPayment(r, deps, { paid: answered.value, asksOutcome });
  },
});

const card = cardPage({
  action: cardPath,
  setup: setupPath,
  back: membershipPath,
  done: membershipPageAfter('card'),
});

/** POST by the card form's script: a script cannot be redirected to another page and back. */
async function beginSetup(r: UserRequest, deps: AccountDeps): Promise<void> {
  if (isRecentlyAuthenticated(r, deps.now())) return card.begin(r, deps);
  r.res.status(403).json({ message: r.t('membership.card.reauthenticate') });
}

/** Charges and cards: they need a recent authentication. */
export const membershipMoneyPages: readonly PageRoute[] = [
  payPage,
  { path: cardPath, get: requireRecentAuth<AccountDeps>(card.show), post: requireRecentAuth<AccountDeps>(card.save) },
  { path: setupPath, post: requireUser(beginSetup) },
];
