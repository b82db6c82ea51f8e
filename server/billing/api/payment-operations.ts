import type { Request } from 'express';
import { z } from 'zod';
import { type ApiOperation, defineOperation, HttpError } from '../../http/index.ts';
import type { User } from '../../users/index.ts';
import type { BillingModule } from '../billing-module.ts';
import { type Catalogue, type Plan, validityDays } from '../catalogue/catalogue.ts';
import type { Order } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import { isSameCode } from '../purchase/promotion-codes.ts';
import { toBalanceChange } from '../purchase/quote.ts';
import type { PurchaseResult, PurchaseView } from '../results.ts';
import {
  compareAmount,
  compareValue,
  compareWord,
  dollars,
  parseAmount,
  rejectDifferent,
} from '../stripe/wire-format.ts';
import { toWireLater } from '../stripe/wire-next-charge.ts';
import { toLaterAmounts } from '../subscription/membership.ts';
import { isOnHold } from '../subscription/membership-state.ts';
import {
  apiErrorTexts,
  findBillingOwner,
  orUnavailable,
  refusePaused,
  refuseWhileRenewing,
  toTooManyError,
} from './api-errors.ts';
import { billingDocs, customerParams } from './billing-docs.ts';
import { isOn, requirePlan, withCalledSeats } from './called-plan.ts';
import { getClientIp } from './customer-operations.ts';
import { toPromotionError } from './promotion-errors.ts';
import { type UpgradeBody, type Upgraded, upgradeBody, upgraded } from './purchase-schemas.ts';
import { isForPlans, savePaymentTypeOperation } from './save-card-operation.ts';

const text = (max: number) => z.string().max(max);

/** @throws {HttpError} 409 */
function rejectOtherPlan(submitted: UpgradeBody, plan: Plan, { currency }: Catalogue): void {
  rejectDifferent([
    compareAmount('plan_amount', submitted.plan_amount, plan.amountCents),
    compareValue('validity', submitted.validity, validityDays[plan.type ?? '1']),
    compareWord('currency', submitted.currency, currency),
    { name: 'purchase_type', agrees: isForPlans(submitted.purchase_type), true_: 'plan' },
  ]);
}

const toPaid = (
  { plan, order }: { plan: Plan; order: Order | undefined },
  currency: string,
  nowMs: number,
): Upgraded => ({
  status: 'paid',
  planId: plan.id,
  stripe_invoice_id: order?.invoiceId ?? null,
  order_date: order?.orderedAt ?? null,
  amount: dollars(order?.paidCents ?? 0),
  currency,
  starts_at: order?.orderedAt ?? nowMs,
});

function toUncharged(
  confirmed: Extract<PurchaseResult, { kind: 'scheduled' | 'processing' }>,
  currency: string,
): Upgraded {
  const isLater = confirmed.kind === 'scheduled';
  return {
    status: isLater && confirmed.isNoted ? 'noted' : confirmed.kind,
    planId: confirmed.plan.id,
    stripe_invoice_id: null,
    order_date: null,
    amount: dollars(isLater ? 0 : confirmed.amountCents),
    currency,
    starts_at: isLater ? confirmed.at : null,
  };
}

/** The errors of things that must be there, or be settled, before a charge. */
const refusals = {
  'debit-waiting': () => new HttpError('debitPending', { detail: 'debit waits' }),
  'no-billing-details': () =>
    new HttpError('billingDetailsRequired', {
      publicDetail: 'The billing details need a country and a postal code',
      detail: 'no billing details',
    }),
  'no-card': () => new HttpError('noCard', { detail: 'no card' }),
  'no-request-to-begin': () =>
    new HttpError('requestToBeginRequired', {
      detail: 'no request to begin',
      invalidParams: [{ name: 'body.begins_at_once', detail: 'must be true' }],
    }),
  'unpaid-first': () => new HttpError('unpaidInvoice', { detail: 'unpaid invoice' }),
  paused: refusePaused,
  'no-change': () => new HttpError('nothingToChange', { detail: 'no pending payment' }),
} satisfies { [Kind in PurchaseResult['kind']]?: () => HttpError };

type Refused = Extract<PurchaseResult, { kind: keyof typeof refusals }>;

const isRefused = (confirmed: PurchaseResult): confirmed is Refused => Object.hasOwn(refusals, confirmed.kind);

const toDifferent = (name: string, cents: number) => ({
  name: `body.${name}`,
  detail: `is ${dollars(cents)}`,
  stored: dollars(cents),
});

/** The result of a purchase for callers. @throws {HttpError} if it is not completed */
function answerTo(confirmed: PurchaseResult, currency: string, nowMs: number): Upgraded {
  if (isRefused(confirmed)) throw refusals[confirmed.kind]();
  switch (confirmed.kind) {
    case 'paid':
      return toPaid(confirmed, currency, nowMs);
    case 'scheduled':
    case 'processing':
      return toUncharged(confirmed, currency);
    case 'declined':
      throw new HttpError('paymentRequired', { detail: 'declined', extra: { errMessage: confirmed.message } });
    case 'action':
      throw new HttpError('paymentAction', {
        detail: 'bank requires authentication',
        extra: { client_secret: confirmed.clientSecret },
      });
    case 'changed':
      throw new HttpError('differs', {
        detail: 'another amount is due',
        invalidParams: [toDifferent('amount', confirmed.quote.dueCents)],
      });
    case 'renewing':
      throw refuseWhileRenewing(confirmed.renewal, nowMs);
    case 'too-many':
      throw toTooManyError(confirmed.retryAfterMs);
  }
}

/** The purchase of this plan with this code: the open one, else a new one. @throws {HttpError} */
async function requirePurchase(
  req: Request,
  billing: BillingModule,
  { user, plan, code }: { user: User; plan: Plan; code: string | null | undefined },
): Promise<PurchaseView> {
  const open = await billing.purchase(user.id);
  const isSame = open?.plan.id === plan.id && (plan.chosenSeats ?? open.plan.chosenSeats) === open.plan.chosenSeats;
  const purchase = isSame ? open : await billing.choose(user, plan);
  if (!code) return purchase;
  const { promotion } = purchase;
  if (promotion) {
    if (!isSameCode(promotion, code)) throw toPromotionError({ kind: 'second' }, billing.catalogue.currency);
    return purchase;
  }
  const applied = await billing.applyPromotion(user, code, getClientIp(req));
  if (applied.kind === 'refused') throw toPromotionError(applied.refusal, billing.catalogue.currency);
  return applied.purchase;
}

/**
 * The amounts from the server: those shown to the user must be equal.
 * @returns the later amounts, if the caller has named the next one
 * @throws {HttpError} 409
 */
async function refuseOtherAmounts(
  billing: BillingModule,
  submitted: UpgradeBody,
  { user, purchase: { plan, promotion, state } }: { user: User; purchase: PurchaseView },
): Promise<string | undefined> {
  // A purchase that waits for its payment stays; the amount is compared when it continues.
  if (state !== 'open') return undefined;
  const quote = await billing.quote(user, plan, promotion);
  const { owedCents, unsaidCreditCents } = toBalanceChange(quote);
  rejectDifferent([
    compareAmount('amount', submitted.amount, quote.dueCents),
    compareAmount('amount_owed', submitted.amount_owed ?? 0, owedCents),
    compareAmount('usedCredits', submitted.usedCredits ?? (unsaidCreditCents > 0 ? 0 : null), quote.usedCreditCents),
    compareAmount('planDiscountVoucher', submitted.planDiscountVoucher, quote.discountCents),
    compareAmount('recurDiscount', submitted.recurDiscount, quote.next?.discountCents ?? 0),
    compareAmount('next_amount', submitted.next_amount, quote.next?.amountCents ?? 0),
  ]);
  return submitted.next_amount == null ? undefined : toLaterAmounts(quote.next);
}

/** A second click, or a lost answer: the existing order. @throws {HttpError} 409 if another amount was paid */
async function answerRepetition(
  { catalogue: { currency }, deps: { database, now } }: BillingModule,
  { amount }: UpgradeBody,
  { user, plan }: { user: User; plan: Plan },
): Promise<Upgraded> {
  const order = (await listOrders(database.db, user.id)).find(({ planId }) => planId === plan.id);
  if (order && order.paidCents === parseAmount(amount)) return toPaid({ plan, order }, currency, now());
  return answerTo({ kind: 'no-change', plan }, currency, now());
}

async function upgrade(
  req: Request,
  billing: BillingModule,
  { user, plan, submitted }: { user: User; plan: Plan; submitted: UpgradeBody },
): Promise<Upgraded> {
  // Asking again tells the same; no other plan can be bought meanwhile.
  if ((await billing.purchase(user.id))?.state === 'charging') {
    const result = await billing.outcome(user);
    if (result.kind === 'processing') {
      const isSame = result.plan.id === plan.id;
      return answerTo(isSame ? result : { kind: 'debit-waiting' }, billing.catalogue.currency, billing.deps.now());
    }
    // It was paid meanwhile: by the bank's page, or by a request whose answer was lost.
    if (result.kind === 'paid' && result.plan.id === plan.id)
      return answerTo(result, billing.catalogue.currency, billing.deps.now());
  }
  const renewal = await billing.renewalBefore(user, plan);
  if (renewal) throw refuseWhileRenewing(renewal, billing.deps.now());
  const purchase = await requirePurchase(req, billing, { user, plan, code: submitted.discountCoupon });
  const laterCents = await refuseOtherAmounts(billing, submitted, { user, purchase });
  const announced = {
    planId: plan.id,
    seats: purchase.plan.chosenSeats,
    dueCents: parseAmount(submitted.amount),
    laterCents,
    // In the words of the caller.
    beginsAtOnce: submitted.begins_at_once ? 'api' : undefined,
  };
  const confirmed = await billing.confirm(user, announced, getClientIp(req));
  return answerTo(confirmed, billing.catalogue.currency, billing.deps.now());
}

function upgradeSubscriptionOperation(billing: BillingModule): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/customer/{stripeCustomerId}/subscription/{subscriptionId}',
    id: 'upgradeSubscription',
    summary: 'Buy a plan',
    description:
      'Charges the saved card with exactly the amount that was shown. Repeating the call continues the same purchase.',
    params: z.object({
      ...customerParams,
      subscriptionId: text(100).brand<'StripeSubscriptionId'>().meta(billingDocs.subscriptionId),
    }),
    body: upgradeBody,
    answer: upgraded,
    problems: {
      402: 'Declined (errMessage), or the bank wants to hear from the member (client_secret); ask again afterwards',
      404: 'No such customer, subscription or promotion code',
      409: 'Differs from what the server says; or there is no card, an unpaid invoice, a renewal that is being charged (Retry-After), a debit that a bank has, a paused subscription, or nothing to change',
    },
    async handle({ req, params, body }) {
      const { stripeCustomerId: customerId, subscriptionId } = params;
      const { user, membership } = await findBillingOwner(req, billing.deps.database, { customerId, subscriptionId });
      const sold = requirePlan(billing.catalogue, body);
      rejectOtherPlan(body, sold, billing.catalogue);
      const plan = withCalledSeats(sold, body, await billing.purchase(user.id));
      if (isOnHold(membership)) throw refusePaused();
      const answer = await orUnavailable(apiErrorTexts.order, () =>
        isOn(plan, membership)
          ? answerRepetition(billing, body, { user, plan })
          : upgrade(req, billing, { user, plan, submitted: body }),
      );
      const isDone = answer.status === 'paid' || answer.status === 'scheduled';
      return { ...answer, ...toWireLater(isDone ? await billing.getMembership(user.id) : undefined) };
    },
  });
}

/** The calls that save a card and charge it (the specification's section 7, payments API). */
export const paymentOperations = (billing: BillingModule): ApiOperation[] => [
  upgradeSubscriptionOperation(billing),
  savePaymentTypeOperation(billing),
];
