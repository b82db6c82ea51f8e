import { membershipPath } from '../../../views/account/tabs.ts';
import { WithdrawPage } from '../../../views/account/withdraw-page.tsx';
import { isBankDebit } from '../../../views/billing/card-name.ts';
import { formatAmount } from '../../../views/format.ts';
import { membershipPageAfter } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';

/** The withdrawal from a purchase: the page says what is given back, before anything happens. */
export const withdrawPage = settingsPage({
  path: `${membershipPath}/withdraw`,
  title: 'membership.withdraw.title',
  guard: requireRecentAuth,
  Page: WithdrawPage,
  async toProps(r, { membership }) {
    const found = await membership.findWithdrawal(r.user.id);
    if (!found) return membershipPageAfter('nothing');
    const { order, until, refundCents, creditCents } = found;
    const money = (cents: number) => formatAmount(r.lang, cents, { currency: order.currency });
    return {
      plan: membership.catalogue.byId(order.planId)?.name ?? '',
      orderedAt: order.orderedAt,
      until,
      toAccount: order.card !== null && isBankDebit(order.card),
      refund: refundCents > 0 ? money(refundCents) : undefined,
      credit: creditCents > 0 ? money(creditCents) : undefined,
      isDisputed: order.disputeState === 'open',
    };
  },
  async act({ user }, { membership }) {
    const notices = { withdrawn: 'withdrawn', noted: 'withdraw-noted', 'no-change': 'nothing' } as const;
    return membershipPageAfter(notices[await membership.withdraw(user)]);
  },
});
