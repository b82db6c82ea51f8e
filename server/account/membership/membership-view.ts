import type { MembershipView, PlanStatusView, UserPlanView } from '../../../views/account/membership-view.ts';
import { formatAmount, formatPercent } from '../../../views/format.ts';
import {
  asSubscribed,
  type Catalogue,
  canPause,
  findPlan,
  findPlanOfSeats,
  graceEndsAt,
  laterAmountsText,
  type Membership,
  type NextCharge,
  type Plan,
  partnerDealUrl,
  planLine,
  planPrice,
  priceText,
  type TextContext,
} from '../../billing/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { isExpired, toPlanStatus, toTrialStatus } from './plan-status.ts';

type Deps = Pick<AccountDeps, 'membership' | 'billingNow'>;

export const amountIn =
  ({ lang }: Pick<TextContext, 'lang'>, currency: string) =>
  (cents: number) =>
    formatAmount(lang, cents, { currency });

/** A plan with the price that this user pays, which may be older than the catalogue's. */
export function toPlanView(
  ctx: TextContext,
  offered: Plan,
  { catalogue, membership }: { catalogue: Pick<Catalogue, 'currency' | 'tax'>; membership?: Membership | undefined },
): UserPlanView {
  // A plan to come has other seats, at the same price.
  const isOwn = membership?.pricedPlanId === offered.id && (offered.chosenSeats ?? 1) === (membership.seats ?? 1);
  const own = isOwn ? membership.price : null;
  const plan = own ? asSubscribed(offered, own) : offered;
  // The member's own price may treat tax in another way than the catalogue.
  const tax = own?.tax && { behaviour: own.tax };
  const price = planPrice(ctx, plan, own ? { currency: own.currency, tax } : catalogue);
  return {
    name: plan.name,
    line: planLine(ctx.t, plan),
    price: price && priceText(price),
    features: plan.features(ctx.lang),
  };
}

function toDiscountText(
  { t, lang }: TextContext,
  { discount: own, customerDiscount, nextCharge }: Membership,
  money: (cents: number) => string,
): string | undefined {
  const discount = own ?? (nextCharge && customerDiscount);
  // A code may be for another plan only.
  if (!discount || nextCharge?.discountCents === 0) return undefined;
  const { percentOff, amountOffCents, code } = discount;
  const amount = percentOff === null ? money(amountOffCents ?? 0) : formatPercent(lang, percentOff);
  return t('membership.plan.off', { amount, code });
}

/** The amount of a charge, with sentences on credit and later amounts. */
export const toNextChargeView = (ctx: TextContext, next: NextCharge): NonNullable<MembershipView['nextCharge']> => ({
  amount: amountIn(ctx, next.currency)(next.amountCents),
  more: laterAmountsText(ctx, next).trim(),
});

/** The user's credit at Stripe, which later charges use first; undefined: none. */
export function toCreditText(
  ctx: Pick<TextContext, 'lang'>,
  { balanceCents, price }: Membership,
  currency: string,
): string | undefined {
  return balanceCents < 0 ? amountIn(ctx, price?.currency ?? currency)(0 - balanceCents) : undefined;
}

/** Owed at Stripe, because it was too small to be charged; undefined: nothing. */
export function toOwedText(
  ctx: Pick<TextContext, 'lang'>,
  membership: Pick<Membership, 'balanceCents' | 'price'> | undefined,
  currency: string,
): string | undefined {
  if (!membership || membership.balanceCents <= 0) return undefined;
  return amountIn(ctx, membership.price?.currency ?? currency)(membership.balanceCents);
}

/** A plan that waits for its payment. */
function toPendingView(
  pending: Membership['pending'] | undefined,
  {
    byId,
    words,
    money,
  }: { byId: Catalogue['byId']; words: (plan: Plan) => { line: string }; money: (cents: number) => string },
): MembershipView['pending'] {
  const plan = pending ? findPlan({ byId }, pending.planId, pending.seats) : undefined;
  if (!pending || !plan) return undefined;
  return {
    plan: words(plan).line,
    amount: money(pending.amountCents),
    href: `/plan-purchase/${plan.id}`,
    debit: pending.failed ? 'failed' : pending.debit,
  };
}

/** An end with what is given back then. */
function withRefund(
  ctx: Pick<TextContext, 'lang'>,
  status: PlanStatusView,
  membership: Membership | undefined,
): PlanStatusView {
  if (status.kind !== 'ends' || !membership?.refundAtEnd) return status;
  const { amounts } = membership.refundAtEnd;
  if (!amounts) return { ...status, refund: {} };
  const { refundCents, creditCents, currency } = amounts;
  const money = amountIn(ctx, currency);
  const credit = creditCents > 0 ? money(creditCents) : undefined;
  const amount = refundCents > 0 || credit === undefined ? money(refundCents) : undefined;
  return { ...status, refund: { amount, credit } };
}

/** Further acts on the plan that the user is offered. */
const findActs = (membership: Membership, catalogue: Catalogue, nowMs: number) => ({
  hasSeats: findPlanOfSeats(membership, catalogue, nowMs) !== undefined,
  canPause: canPause(membership, catalogue, nowMs),
});

/** A charge that has failed. @param rules.own the plan that the user has now */
function toUnpaidView(
  membership: Membership,
  { catalogue, nowMs, own, words, money }: UnpaidRules,
): MembershipView['unpaid'] {
  const { unpaid } = membership;
  if (!unpaid) return undefined;
  const keptUntil = graceEndsAt(membership, catalogue);
  const resting = unpaid.withoutGrace === true;
  return {
    amount: money(unpaid.amountCents),
    why: unpaid.why,
    resting,
    meanwhile: resting && own && own.id !== membership.pricedPlanId ? words(own).line : undefined,
    nextAttemptAt: unpaid.nextAttemptAt,
    // After that Stripe may continue to try for some days.
    keptUntil: keptUntil !== undefined && keptUntil > nowMs ? keptUntil : undefined,
    url: unpaid.url,
  };
}

interface UnpaidRules {
  catalogue: Catalogue;
  nowMs: number;
  own: Plan | undefined;
  words: (plan: Plan) => { line: string };
  money: (cents: number) => string;
}

/** The stored membership of a user, as text. */
export function toMembershipView(
  r: UserRequest,
  { membership: { catalogue, sold }, billingNow }: Deps,
  { membership, deal }: { membership: Membership | undefined; deal?: Plan | undefined },
): MembershipView {
  const nowMs = billingNow();
  const { currency } = catalogue;
  const money = amountIn(r, currency);
  const words = (plan: Plan) => toPlanView(r, plan, { catalogue, membership });
  const { pending, card } = membership ?? {};
  return {
    sold,
    ...(deal && { deal: { plan: deal.name, href: partnerDealUrl(deal, '') } }),
    status: withRefund(r, toPlanStatus({ catalogue, nowMs, words }, r.user, membership), membership),
    noted: membership?.noted,
    hasGifts: catalogue.gifts !== undefined,
    ...(membership && sold && findActs(membership, catalogue, nowMs)),
    trial: membership && toTrialStatus(membership, catalogue, nowMs),
    discount: membership && toDiscountText(r, membership, money),
    credit: membership && toCreditText(r, membership, currency),
    nextCharge: membership?.nextCharge ? toNextChargeView(r, membership.nextCharge) : undefined,
    unpaid:
      membership && toUnpaidView(membership, { catalogue, nowMs, own: catalogue.byId(r.user.planId), words, money }),
    pending: sold ? toPendingView(pending, { byId: catalogue.byId, words, money }) : undefined,
    card: card ? { ...card, expired: isExpired(card, nowMs) } : undefined,
  };
}
