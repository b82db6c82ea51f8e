import type { Request } from 'express';
import { z } from 'zod';
import {
  type ApiOperation,
  defineOperation,
  describedAs,
  doc,
  HttpError,
  idField,
  withDocs,
} from '../../http/index.ts';
import { type PlanId, planIdSchema, type StripeCustomerId, toStripeCustomerId } from '../../shared/index.ts';
import type { Database } from '../../store/index.ts';
import { findCallingUser, findUserByIdentifier, fullName, normaliseEmail, type User } from '../../users/index.ts';
import type { BillingModule } from '../billing-module.ts';
import { listTasks } from '../jobs/task-store.ts';
import {
  consumePromotionTry,
  findPromotionRefusal,
  isSameCode,
  type StripePromotion,
} from '../purchase/promotion-codes.ts';
import { toBalanceChange } from '../purchase/quote.ts';
import type { PurchaseView } from '../results.ts';
import { discountOfCoupon } from '../stripe/stripe-objects.ts';
import {
  compareValue,
  compareWord,
  customerSchema,
  dollars,
  rejectDifferent,
  toWireCustomer,
} from '../stripe/wire-format.ts';
import { amountOwedSchema, nextChargeSchema, toWireNextCharge } from '../stripe/wire-next-charge.ts';
import { isOnHold } from '../subscription/membership-state.ts';
import { withRefundAtEnd } from '../subscription/notice-rules.ts';
import { apiErrorTexts, findBillingOwner, hasCustomer, orUnavailable, refusePaused } from './api-errors.ts';
import { billingDocs, customerDocs, customerParams, orderDocs, promotionCodeAnswer } from './billing-docs.ts';
import { toPromotionError } from './promotion-errors.ts';
import { compareTrialEnd } from './trial-end.ts';

const text = (max: number) => z.string().max(max);
const numberOrText = z.union([z.int(), z.string().max(20)]).meta(describedAs({ type: 'integer', minimum: 0 }));

/** The specification's customer creation payload: personal data come from the account and are ignored here. */
const customerBody = z
  .array(
    withDocs(
      z.object({
        first_name: text(100).optional(),
        last_name: text(100).optional(),
        email: text(254),
        company: text(200).nullable().optional(),
        position: text(200).nullable().optional(),
        phone: text(50).nullable().optional(),
        zip: text(50).nullable().optional(),
        country: text(100).nullable().optional(),
        plan_name: text(100).optional(),
        currency: text(3).optional(),
        quantity: numberOrText.optional(),
        /** Days, or the end in seconds or milliseconds since the epoch. */
        trial_end: numberOrText.optional(),
        interval: text(20).optional(),
      }),
      customerDocs,
    ).meta({ id: 'NewCustomer', description: 'The member whose customer is made.' }),
  )
  .length(1, 'name one customer');

export const getClientIp = (req: Request) => ({ ip: req.ip ?? '' });

/** Users can only name themselves; a client app names them by their address. */
async function findNamedUser(req: Request, database: Database, address: string): Promise<User> {
  const email = normaliseEmail(address);
  const member = await findCallingUser(req, database);
  if (member) {
    rejectDifferent([compareValue('0.email', email ?? address, member.email)]);
    return member;
  }
  const user = email === undefined ? undefined : await findUserByIdentifier(database.db, { email });
  if (!user?.emailVerified || user.disabledAt !== null)
    throw new HttpError('unknownMember', { publicDetail: apiErrorTexts.create, detail: 'no such user' });
  return user;
}

function customerOperation({ catalogue, deps }: BillingModule): ApiOperation {
  return defineOperation({
    method: 'get',
    path: '/customer/{stripeCustomerId}',
    id: 'customer',
    summary: 'Read a customer',
    description: 'The customer at Stripe with the subscription, as last read.',
    params: z.object(customerParams),
    answer: customerSchema,
    problems: { 404: 'No such customer' },
    async handle({ req, params }) {
      const { membership } = await findBillingOwner(req, deps.database, { customerId: params.stripeCustomerId });
      const tasks = await listTasks(deps.database.db, membership.userId);
      return toWireCustomer(withRefundAtEnd(membership, tasks), catalogue);
    },
  });
}

function createCustomerOperation(billing: BillingModule): ApiOperation {
  const { catalogue, deps } = billing;
  return defineOperation({
    method: 'post',
    path: '/customer',
    alsoAt: '/customer/',
    id: 'createCustomer',
    summary: 'Create a customer',
    description:
      'Makes sure that a member has a customer and the subscription on which members begin. Repeating the call changes nothing.',
    body: customerBody,
    answer: customerSchema,
    problems: { 404: 'No such member', 409: 'Differs from what the server says' },
    async handle({ req, body: [submitted] }) {
      if (!submitted) throw new HttpError('validation');
      const user = await findNamedUser(req, deps.database, submitted.email);
      const { trial, currency } = catalogue;
      const known = await billing.getMembership(user.id);
      const trialOfMember = { days: known?.trialDays ?? 0, endMs: known?.trialEnd ?? null, offeredDays: trial.days };
      rejectDifferent([
        compareValue('0.plan_name', submitted.plan_name, trial.lookupKey),
        compareWord('0.currency', submitted.currency, currency),
        compareValue('0.quantity', submitted.quantity, 1),
        compareWord('0.interval', submitted.interval, 'month'),
        // A user from another flow had another trial; repeating the same value changes nothing.
        compareTrialEnd('0.trial_end', submitted.trial_end, { trial: trialOfMember, nowMs: deps.now() }),
      ]);
      const membership = await orUnavailable(apiErrorTexts.create, () => billing.ensure(user, trial.days));
      if (!hasCustomer(membership)) throw new Error(`${fullName(user)} has no customer after it was made`);
      return toWireCustomer(membership, catalogue);
    },
  });
}

/** Applies a code to the purchase of a plan: of the named one, else of the chosen one, else of the proposed one. */
async function applyCode(
  req: Request,
  billing: BillingModule,
  { user, code, planId }: { user: User; code: string; planId: PlanId | undefined },
): Promise<Pick<PurchaseView, 'plan' | 'promotion'>> {
  const { catalogue } = billing;
  const open = await billing.purchase(user.id);
  const plan = planId === undefined ? (open?.plan ?? catalogue.defaultPlan) : catalogue.byId(planId);
  if (plan?.kind !== 'paid') throw new HttpError('unknownPlan', { detail: 'unknown plan' });
  if (open?.plan.id !== plan.id) await billing.choose(user, plan);
  const result = await billing.applyPromotion(user, code, getClientIp(req));
  if (result.kind !== 'refused') return { plan, promotion: result.purchase.promotion };
  const promotion = result.refusal.kind === 'second' ? ((await billing.purchase(user.id))?.promotion ?? null) : null;
  // The same call again, whose answer was lost.
  if (promotion && isSameCode(promotion, code)) return { plan, promotion };
  throw toPromotionError(result.refusal, catalogue.currency);
}

function applyCouponOperation(billing: BillingModule): ApiOperation {
  const { catalogue, deps } = billing;
  return defineOperation({
    method: 'put',
    path: '/customer/signup/{subscriptionId}',
    id: 'applyCoupon',
    summary: 'Apply a promotion code',
    description: 'The code counts for the open purchase of a plan, which the call begins if there is none.',
    params: z.object({
      subscriptionId: text(100).brand<'StripeSubscriptionId'>().meta(billingDocs.subscriptionId),
    }),
    body: z.object({
      coupon: text(100).meta(billingDocs.code),
      planId: idField(text(100).brand<'PlanId'>(), '12')
        .optional()
        .meta(doc('Id of the plan to buy; by default the chosen one, else the proposed one', '12')),
    }),
    answer: z
      .object({
        subscription_id: z.string().meta(billingDocs.subscriptionId),
        planId: planIdSchema.meta(billingDocs.planId),
        coupon: z.string().meta(billingDocs.code),
        amount: z.string().meta(billingDocs.amountToday),
        currency: z.string().meta(billingDocs.currency),
        usedCredits: z.string().meta(orderDocs.usedCredits),
        amount_owed: amountOwedSchema,
        next_charge: nextChargeSchema,
      })
      .meta({ id: 'AppliedPromotionCode', description: 'A purchase with a promotion code.' }),
    problems: { 404: 'No such subscription, plan or promotion code', 409: 'The code may not be used now' },
    async handle({ req, params: { subscriptionId }, body }) {
      const { user, membership } = await findBillingOwner(req, deps.database, { subscriptionId });
      if (isOnHold(membership)) throw refusePaused();
      return orUnavailable(apiErrorTexts.update, async () => {
        const { plan, promotion } = await applyCode(req, billing, { user, code: body.coupon, planId: body.planId });
        const quote = await billing.quote(user, plan, promotion);
        return {
          subscription_id: subscriptionId,
          planId: plan.id,
          coupon: promotion?.code ?? '',
          amount: dollars(quote.dueCents),
          currency: catalogue.currency,
          usedCredits: dollars(quote.usedCreditCents),
          amount_owed: dollars(toBalanceChange(quote).owedCents),
          next_charge: toWireNextCharge(quote.next),
        };
      });
    },
  });
}

/** A code that some purchase of this caller could use. @throws {HttpError} 404 */
async function findCodeInForce(
  { catalogue, deps, findCode }: BillingModule,
  typed: string,
  customerId: StripeCustomerId | undefined,
): Promise<StripePromotion> {
  const known = await orUnavailable(apiErrorTexts.order, () => findCode(typed, customerId));
  if (!known) throw toPromotionError({ kind: 'unknown' }, catalogue.currency);
  const refusal = findPromotionRefusal(known, {
    dueCents: Number.MAX_SAFE_INTEGER,
    currency: catalogue.currency,
    productId: '',
    customerId: customerId ?? toStripeCustomerId(''),
    boughtBefore: false,
    nowMs: deps.now(),
  });
  const isOtherCurrency = known.coupon.amount_off !== null && known.coupon.currency !== catalogue.currency;
  if (isOtherCurrency || (refusal && refusal.kind !== 'not-for-this-plan'))
    throw toPromotionError({ kind: 'unknown' }, catalogue.currency);
  return known;
}

function couponOperation(billing: BillingModule): ApiOperation {
  const { deps } = billing;
  return defineOperation({
    method: 'get',
    path: '/customer/coupons/{code}',
    id: 'coupon',
    summary: 'Read a promotion code',
    description: 'Finds codes that are in force. Some purchase of the caller could use the code.',
    params: z.object({ code: text(100).meta(billingDocs.code) }),
    answer: promotionCodeAnswer,
    problems: { 404: 'No code that is in force' },
    // Codes are words and can be guessed.
    async handle({ req, params: { code } }) {
      const member = await findCallingUser(req, deps.database);
      const refusal =
        member && (await consumePromotionTry(deps, member, { ...getClientIp(req), how: 'promotion-asked' }));
      if (refusal) throw toPromotionError(refusal, billing.catalogue.currency);
      const own = member && (await billing.getMembership(member.id));
      const known = await findCodeInForce(billing, code, own?.customerId ?? undefined);
      const { percentOff, amountOffCents } = discountOfCoupon(known.coupon);
      const data = {
        // The word that users type: the coupon's own id would bypass the code's conditions.
        id: known.promotion?.code ?? known.coupon.id,
        percent_off: percentOff,
        percent_off_precise: percentOff,
        amount_off: amountOffCents,
      };
      return { ...data, data };
    },
  });
}

/** The calls on customers and promotion codes (the specification's section 7, payments API). */
export const customerOperations = (billing: BillingModule): ApiOperation[] => [
  customerOperation(billing),
  createCustomerOperation(billing),
  applyCouponOperation(billing),
  couponOperation(billing),
];
