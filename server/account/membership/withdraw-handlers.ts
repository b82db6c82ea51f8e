import { membershipPath } from '../../../views/account/tabs.ts';
import { WithdrawPage } from '../../../views/account/withdraw-page.tsx';
import { isBankDebit } from '../../../views/billing/card-name.ts';
import { formatAmount } from '../../../views/format.ts';
import type { PlanId } from '../../shared/index.ts';
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
    const { parts, until, refundCents, creditCents, owedCents, days } = found;
    const [{ order }, ...earlier] = parts;
    const findName = (planId: PlanId | null) => membership.catalogue.byId(planId)?.name ?? '';
    const money = (cents: number) => formatAmount(r.lang, cents, { currency: order.currency });
    return {
      plan: findName(order.planId),
      orderedAt: order.orderedAt,
      earlier: earlier.map((part) => ({ plan: findName(part.order.planId), orderedAt: part.order.orderedAt })),
      until,
      toAccount: order.card !== null && isBankDebit(order.card),
      refund: refundCents > 0 ? money(refundCents) : undefined,
      credit: creditCents > 0 ? money(creditCents) : undefined,
      owed: owedCents > 0 ? money(owedCents) : undefined,
      isDisputed: parts.some((part) => part.order.disputeState === 'open'),
      days: days && { ...days, amount: money(days.cents) },
    };
  },
  async act(r, { membership }) {
    const notices = { withdrawn: 'withdrawn', noted: 'withdraw-noted', 'no-change': 'nothing' } as const;
    // No page announces a negative number: invalid input never matches.
    const number = (text: string) => (/^\d{1,3}$/.test(text) ? Number(text) : -1);
    const announced = { days: number(r.field('days') || '0'), payments: number(r.field('payments') || '1') };
    const found = await membership.findWithdrawal(r.user.id);
    const result = await membership.withdraw(r.user, announced);
    if (result === 'changed') return { status: 409, problem: { text: r.t('membership.withdraw.changed') } };
    // Another day may have begun in between.
    const isAnnounced = found?.parts.length === announced.payments && (found.days?.used ?? 0) === announced.days;
    const back = isAnnounced ? { cents: found.refundCents, currency: found.parts[0].order.currency } : undefined;
    return membershipPageAfter(notices[result], back);
  },
});
