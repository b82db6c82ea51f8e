import { cardName } from '../../../views/billing/card-name.ts';
import type { Receipt } from '../../../views/billing/completed-page.tsx';
import { formatAmount, formatDate } from '../../../views/format.ts';
import type { SummaryLine } from '../../../views/parts/summary-list.tsx';
import { type Catalogue, type Plan, planAfterYear } from '../catalogue/catalogue.ts';
import type { Order } from '../orders/order.ts';
import { isReturned } from '../orders/order-store.ts';
import type { Membership } from '../subscription/membership.ts';
import { type MembershipState, toMembershipState } from '../subscription/membership-state.ts';
import { keepsText, laterAmountsText, planLine, type TextContext } from './plan-view.ts';

type ShownState = Extract<MembershipState, { kind: 'paid' | 'changing' | 'trying' }>;

interface ReceiptFacts {
  catalogue: Catalogue;
  membership: Membership;
  /** The newest order of this member; undefined: there is none. */
  order: Order | undefined;
  nowMs: number;
}

/** The state of a plan that goes on as its page has announced; undefined: something else has happened to it. */
function toShownState({ membership, catalogue, nowMs }: ReceiptFacts): ShownState | undefined {
  if (membership.noted !== undefined || membership.pending !== null || membership.unpaid !== null) return undefined;
  const state = toMembershipState(membership, catalogue, nowMs);
  if (state.kind === 'trying') return state.ends ? undefined : state;
  return state.kind === 'paid' || state.kind === 'changing' ? state : undefined;
}

/** The next charge, with the day and the amounts that the membership page names. */
function toNextText(ctx: TextContext, state: ShownState, { membership, catalogue }: ReceiptFacts): string[] {
  const { lang, t } = ctx;
  const { nextCharge: next } = membership;
  if (state.until === null) return [];
  const date = formatDate(lang, state.until);
  if (next === null) return state.kind === 'paid' ? [`${t('membership.line.renews', { date })}.`] : [];
  const amount = formatAmount(lang, next.amountCents, { currency: next.currency });
  const more = laterAmountsText(ctx, next);
  if (state.kind === 'changing') {
    if (planAfterYear(catalogue, state.plan)?.id === state.next.id)
      return [t('checkout.lines.byMonth', { date, amount }) + more];
    return [keepsText(ctx, { ...state, date }), t('checkout.lines.then', { name: state.next.name, amount }) + more];
  }
  const isFree = state.kind === 'trying' && !state.isCharged;
  return [t(isFree ? 'checkout.planTrial.first' : 'checkout.lines.renews', { date, amount }) + more];
}

/** The payment of the plan that the member has now; one that went back is none. */
function toPayment(
  { lang, t }: TextContext,
  { membership, order }: ReceiptFacts,
  plan: Plan,
): Pick<Receipt, 'total' | 'included'> & { lines: SummaryLine[] } {
  const isOfPlan = order?.planId === plan.id && order.subscriptionId === membership.subscriptionId;
  if (!order || !isOfPlan || isReturned(order)) return { lines: [] };
  const money = (cents: number) => formatAmount(lang, cents, { currency: order.currency });
  const { card, usedCreditCents, debtCents } = order;
  return {
    lines: [
      ...(usedCreditCents > 0 ? [{ label: t('checkout.completed.credit'), amount: money(usedCreditCents) }] : []),
      ...(debtCents
        ? [{ label: t(`checkout.lines.${debtCents < 0 ? 'owed' : 'small'}`), amount: money(Math.abs(debtCents)) }]
        : []),
    ],
    total: { label: t('checkout.completed.paid'), amount: money(order.paidCents) },
    included: [
      { label: t('membership.invoices.date'), amount: formatDate(lang, order.orderedAt) },
      ...(card ? [{ label: t('checkout.completed.card'), amount: cardName(t, card) }] : []),
    ],
  };
}

/**
 * The plan, the payment and the next payment of a member. Everything is read from the stored order and membership: the address
 * names a plan alone, and one that is neither theirs nor to come has no receipt.
 */
export function toReceipt(ctx: TextContext, plan: Plan, facts: ReceiptFacts): Receipt | undefined {
  const { lang, t } = ctx;
  const state = toShownState(facts);
  if (!state) return undefined;
  const follows = state.kind === 'changing' && state.next.id === plan.id ? state.next : undefined;
  const bought = follows ?? state.plan;
  if (bought.id !== plan.id) return undefined;
  const isFree = state.kind === 'trying' && !state.isCharged;
  const payment = follows || isFree ? { lines: [] } : toPayment(ctx, facts, plan);
  const begins = follows && state.until !== null ? [t('checkout.completed.begins')] : [];
  const dated = isFree ? [t('checkout.completed.freeUntil')] : begins;
  return {
    ...payment,
    lines: [
      { label: t('membership.plan.name'), amount: planLine(t, bought) },
      ...dated.map((label) => ({ label, amount: formatDate(lang, state.until ?? 0) })),
      ...payment.lines,
    ],
    isPaid: payment.total !== undefined && (facts.order?.paidCents ?? 0) > 0,
    note: toNextText(ctx, state, facts),
  };
}
