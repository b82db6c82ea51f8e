import type { Request } from 'express';
import { z } from 'zod';
import { type ApiOperation, defineOperation, HttpError } from '../../http/index.ts';
import { planIdSchema, toStripeCustomerId } from '../../shared/index.ts';
import { findCallingUser, findUserByIdentifier, fullName, normaliseEmail, type User } from '../../users/index.ts';
import type { BillingModule } from '../billing-module.ts';
import { consumePromotionTry, findPromotionRefusal } from '../purchase/promotion-codes.ts';
import type { PromotionRefusal } from '../results.ts';
import { discountOfCoupon } from '../stripe/stripe-objects.ts';
import { compareValue, customerSchema, dollars, rejectDifferent, toWireCustomer } from '../stripe/wire-format.ts';
import { isPaused } from '../subscription/membership.ts';
import {
  apiErrorTexts,
  findBillingOwner,
  hasCustomer,
  orUnavailable,
  refusePaused,
  toTooManyError,
} from './api-errors.ts';

const text = (max: number) => z.string().max(max);
const numberOrText = z.union([z.int(), z.string().max(20)]);

/** The specification's customer creation payload: personal data come from the account and are ignored here. */
const customerBody = z
  .array(
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
      /** Days. */
      trial_end: numberOrText.optional(),
      interval: text(20).optional(),
    }),
  )
  .length(1, 'name one customer');

const coupon = z.object({
  id: z.string(),
  percent_off: z.number().nullable(),
  percent_off_precise: z.number().nullable(),
  /** Cents. */
  amount_off: z.int().nullable(),
});

/** Text for callers; pages have their own, in four languages. */
function promotionText(refusal: Exclude<PromotionRefusal, { kind: 'too-many' }>): string {
  switch (refusal.kind) {
    case 'unknown':
      return 'Enter valid promo code';
    case 'second':
      return 'Cannot apply more than one coupon code';
    case 'minimum':
      return `Minimum order amount should be greater than $${dollars(refusal.amountCents).replace(/\.00$/, '')}`;
    case 'nothing-due':
      return 'The promo code was not applied: there is nothing to pay';
    case 'expired':
      return 'The promo code has expired';
    case 'used-up':
      return 'The promo code has been used up';
    case 'first-purchase-only':
      return 'The promo code is for a first purchase';
    case 'not-for-this-plan':
      return 'The promo code is not for this plan';
  }
}

/** @returns the error for a caller: 404 for an unknown code, 409 for one that cannot be used now, 429 */
export function toPromotionError(refusal: PromotionRefusal): HttpError {
  if (refusal.kind === 'too-many') return toTooManyError(refusal.retryAfterMs);
  const kind = refusal.kind === 'unknown' ? 'notFound' : 'conflict';
  return new HttpError(kind, { publicDetail: promotionText(refusal), detail: `promotion code: ${refusal.kind}` });
}

export const getClientIp = (req: Request) => ({ ip: req.ip ?? '' });

/** The calls on customers and promotion codes (the specification's section 7, payments API). */
export function customerOperations(moduleName: BillingModule): ApiOperation[] {
  const { catalogue, deps } = moduleName;
  const { database } = deps;

  /** Users can only name themselves; a client app names them by their address. */
  async function named(req: Request, address: string): Promise<User> {
    const email = normaliseEmail(address);
    const member = await findCallingUser(req, database);
    if (member) {
      rejectDifferent([compareValue('0.email', email ?? address, member.email)]);
      return member;
    }
    const user = email === undefined ? undefined : await findUserByIdentifier(database.db, { email });
    if (!user?.emailVerified || user.disabledAt !== null)
      throw new HttpError('notFound', { publicDetail: apiErrorTexts.create, detail: 'no such user' });
    return user;
  }

  return [
    defineOperation({
      method: 'get',
      path: '/customer/{stripeCustomerId}',
      id: 'customer',
      summary: "A member's customer at Stripe with their subscription, as last read",
      params: z.object({ stripeCustomerId: text(100).brand<'StripeCustomerId'>() }),
      answer: customerSchema,
      problems: { 404: 'No such customer' },
      async handle({ req, params }) {
        const { membership } = await findBillingOwner(req, database, { customerId: params.stripeCustomerId });
        return toWireCustomer(membership, catalogue);
      },
    }),
    defineOperation({
      method: 'post',
      path: '/customer/',
      alsoAt: '/customer',
      id: 'createCustomer',
      summary:
        'Makes sure that a member has a customer and the subscription on which members begin; any number of times',
      body: customerBody,
      answer: customerSchema,
      problems: { 404: 'No such member', 409: 'Differs from what the server says' },
      async handle({ req, body: [submitted] }) {
        if (!submitted) throw new HttpError('validation');
        const user = await named(req, submitted.email);
        const { trial, currency } = catalogue;
        const days = (await moduleName.getMembership(user.id))?.trialDays ?? 0;
        rejectDifferent([
          compareValue('0.plan_name', submitted.plan_name, trial.lookupKey),
          compareValue('0.currency', submitted.currency, currency),
          compareValue('0.quantity', submitted.quantity, 1),
          compareValue('0.interval', submitted.interval, 'month'),
          // A user from another flow had another trial; repeating the same value changes nothing.
          compareValue(
            '0.trial_end',
            submitted.trial_end,
            String(submitted.trial_end) === String(days) ? days : trial.days,
          ),
        ]);
        const membership = await orUnavailable(apiErrorTexts.create, () => moduleName.ensure(user, trial.days));
        if (!hasCustomer(membership)) throw new Error(`${fullName(user)} has no customer after it was made`);
        return toWireCustomer(membership, catalogue);
      },
    }),
    defineOperation({
      method: 'put',
      path: '/customer/signup/{subscriptionId}',
      id: 'applyCoupon',
      summary: 'Applies a promotion code to the purchase that is under way',
      params: z.object({ subscriptionId: text(100).brand<'StripeSubscriptionId'>() }),
      body: z.object({
        coupon: text(100),
        /** The plan to buy; by default the plan that was chosen on the pages, else the proposed one. */
        planId: text(100).brand<'PlanId'>().optional(),
      }),
      answer: z.object({
        subscription_id: z.string(),
        planId: planIdSchema,
        coupon: z.string(),
        /** Due today. */
        amount: z.string(),
        currency: z.string(),
      }),
      problems: { 404: 'No such subscription, plan or promotion code', 409: 'The code may not be used now' },
      async handle({ req, params: { subscriptionId }, body }) {
        const { user, membership } = await findBillingOwner(req, database, { subscriptionId });
        if (isPaused(membership)) throw refusePaused();
        return orUnavailable(apiErrorTexts.update, async () => {
          const open = await moduleName.purchase(user.id);
          const plan = body.planId === undefined ? (open?.plan ?? catalogue.defaultPlan) : catalogue.byId(body.planId);
          if (plan?.kind !== 'paid') throw new HttpError('notFound', { detail: 'unknown plan' });
          if (open?.plan.id !== plan.id) await moduleName.choose(user, plan);
          const result = await moduleName.applyPromotion(user, body.coupon, getClientIp(req));
          if (result.kind === 'refused') throw toPromotionError(result.refusal);
          const { promotion } = result.purchase;
          const { dueCents } = await moduleName.quote(user, plan, promotion);
          return {
            subscription_id: subscriptionId,
            planId: plan.id,
            coupon: promotion?.code ?? '',
            amount: dollars(dueCents),
            currency: catalogue.currency,
          };
        });
      },
    }),
    defineOperation({
      method: 'get',
      path: '/customer/coupons/{code}',
      id: 'coupon',
      summary: 'What a promotion code takes off, if it is one',
      params: z.object({ code: text(100) }),
      answer: z.object({ data: coupon }),
      problems: { 404: 'No code that is in force' },
      // Codes are words and can be guessed.
      async handle({ req, params: { code } }) {
        const member = await findCallingUser(req, database);
        const refusal = member && (await consumePromotionTry(deps, member, getClientIp(req).ip, 'promotion-asked'));
        if (refusal) throw toPromotionError(refusal);
        const own = member && (await moduleName.getMembership(member.id));
        const known = await orUnavailable(apiErrorTexts.order, () =>
          moduleName.findCode(code, own?.customerId ?? undefined),
        );
        const nowMs = deps.now();
        const why =
          known &&
          findPromotionRefusal(known, {
            dueCents: Number.MAX_SAFE_INTEGER,
            currency: catalogue.currency,
            productId: '',
            customerId: own?.customerId ?? toStripeCustomerId(''),
            boughtBefore: false,
            nowMs,
          });
        if (!known || (why && why.kind !== 'not-for-this-plan')) throw toPromotionError({ kind: 'unknown' });
        const { percentOff, amountOffCents } = discountOfCoupon(known.coupon);
        if (amountOffCents !== null && known.coupon.currency !== catalogue.currency)
          throw toPromotionError({ kind: 'unknown' });
        return {
          data: {
            // The word that users type: the coupon's own id would bypass the code's conditions.
            id: known.promotion?.code ?? known.coupon.id,
            percent_off: percentOff,
            percent_off_precise: percentOff,
            amount_off: amountOffCents,
          },
        };
      },
    }),
  ];
}
