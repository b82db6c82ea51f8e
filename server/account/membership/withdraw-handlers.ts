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
    const { order, until, refundCents, creditCents, owedCents, days } = found;
    const money = (cents: number) => formatAmount(r.lang, cents, { currency: order.currency });
    return {
      plan: membership.catalogue.byId(order.planId)?.name ?? '',
      orderedAt: order.orderedAt,
      until,
      toAccount: order.card !== null && isBankDebit(order.card),
      refund: refundCents > 0 ? money(refundCents) : undefined,
      credit: creditCents > 0 ? money(creditCents) : undefined,
      owed: owedCents > 0 ? money(owedCents) : undefined,
      isDisputed: order.disputeState === 'open',
      days: days && { ...days, amount: money(days.cents) },
    };
  },
  async act(r, { membership }) {
    const notices = { withdrawn: 'withdrawn', noted: 'withdraw-noted', 'no-change': 'nothing' } as const;
    // No page announces a negative number: invalid input never matches.
    const days = /^\d{1,3}$/.test(r.field('days') || '0') ? Number(r.field('days')) : -1;
    const found = await membership.findWithdrawal(r.user.id);
    const result = await membership.withdraw(r.user, days);
    if (result === 'changed') return { status: 409, problem: { text: r.t('membership.withdraw.changed') } };
    // Another day may have begun in between.
    const isAnnounced = found && (found.days?.used ?? 0) === days;
    return membershipPageAfter(
      notices[result],
      isAnnounced ? { cents: found.refundCents, currency: found.order.currency } : undefined,
    );
  },
});
