import type { Request } from 'express';
import { z } from 'zod';
import { callingMember, findUserByIdentifier, fullName, normalEmail, type User } from '../account/index.ts';
import { HttpError, type Operation, operation } from '../http/index.ts';
import { failed, hasCustomer, orAway, ownerOf, refusePaused, tooMany } from './callers.ts';
import { countTry, refusalOf } from './promotions.ts';
import type { PromotionRefusal } from './results.ts';
import type { MembershipRoom } from './room.ts';
import { isPaused } from './standing.ts';
import { discountOfCoupon } from './stripe-objects.ts';
import { dollars, refuseDifferent, sameAs, toWireCustomer, wireCustomer } from './wire.ts';

const text = (most: number) => z.string().max(most);
const numberOrText = z.union([z.int(), z.string().max(20)]);

/** The specification's customer creation payload: what describes a person is taken from their account, whatever stands here. */
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

/** @returns what a caller is answered: 404 for a code that is none, 409 for one that may not be used now, 429 */
export function promotionError(refusal: PromotionRefusal): HttpError {
  if (refusal.kind === 'too-many') return tooMany(refusal.retryAfterMs);
  const kind = refusal.kind === 'unknown' ? 'notFound' : 'conflict';
  return new HttpError(kind, { said: promotionText(refusal), detail: `promotion code: ${refusal.kind}` });
}

export const addressOf = (req: Request) => ({ ip: req.ip ?? '' });

/** The calls on customers and promotion codes (the specification's section 7, payments API). */
export function customerOperations(room: MembershipRoom): Operation[] {
  const { catalogue, deps } = room;
  const { database } = deps;

  /** Of members their own; a client app names them by their address. */
  async function named(req: Request, address: string): Promise<User> {
    const email = normalEmail(address);
    const member = await callingMember(req, database);
    if (member) {
      refuseDifferent([sameAs('0.email', email ?? address, member.email)]);
      return member;
    }
    const user = email === undefined ? undefined : await findUserByIdentifier(database.db, { email });
    if (!user?.emailVerified || user.disabledAt !== null)
      throw new HttpError('notFound', { said: failed.create, detail: 'no such member' });
    return user;
  }

  return [
    operation({
      method: 'get',
      path: '/customer/{stripeCustomerId}',
      id: 'customer',
      summary: "A member's customer at Stripe with their subscription, as last read",
      params: z.object({ stripeCustomerId: text(100) }),
      answer: wireCustomer,
      problems: { 404: 'No such customer' },
      async handle({ req, params }) {
        const { membership } = await ownerOf(req, database, { customerId: params.stripeCustomerId });
        return toWireCustomer(membership, catalogue);
      },
    }),
    operation({
      method: 'post',
      path: '/customer/',
      alsoAt: '/customer',
      id: 'createCustomer',
      summary:
        'Makes sure that a member has a customer and the subscription on which members begin; any number of times',
      body: customerBody,
      answer: wireCustomer,
      problems: { 404: 'No such member', 409: 'Differs from what the server says' },
      async handle({ req, body: [said] }) {
        if (!said) throw new HttpError('validation');
        const user = await named(req, said.email);
        const { trial, currency } = catalogue;
        const days = (await room.standing(user.id))?.trialDays ?? 0;
        refuseDifferent([
          sameAs('0.plan_name', said.plan_name, trial.lookupKey),
          sameAs('0.currency', said.currency, currency),
          sameAs('0.quantity', said.quantity, 1),
          sameAs('0.interval', said.interval, 'month'),
          // Who began elsewhere had another trial; saying so again changes nothing.
          sameAs('0.trial_end', said.trial_end, String(said.trial_end) === String(days) ? days : trial.days),
        ]);
        const membership = await orAway(failed.create, () => room.ensure(user, trial.days));
        if (!hasCustomer(membership)) throw new Error(`${fullName(user)} has no customer after it was made`);
        return toWireCustomer(membership, catalogue);
      },
    }),
    operation({
      method: 'put',
      path: '/customer/signup/{subscriptionId}',
      id: 'applyCoupon',
      summary: 'Applies a promotion code to the purchase that is under way',
      params: z.object({ subscriptionId: text(100) }),
      body: z.object({
        coupon: text(100),
        /** What is bought; without it, what was chosen on the pages, else the plan that is proposed to everybody. */
        planId: text(100).optional(),
      }),
      answer: z.object({
        subscription_id: z.string(),
        planId: z.string(),
        coupon: z.string(),
        /** Due today. */
        amount: z.string(),
        currency: z.string(),
      }),
      problems: { 404: 'No such subscription, plan or promotion code', 409: 'The code may not be used now' },
      async handle({ req, params: { subscriptionId }, body }) {
        const { user, membership } = await ownerOf(req, database, { subscriptionId });
        if (isPaused(membership)) throw refusePaused();
        return orAway(failed.update, async () => {
          const open = await room.purchase(user.id);
          const plan = body.planId === undefined ? (open?.plan ?? catalogue.defaultPlan) : catalogue.byId(body.planId);
          if (plan?.kind !== 'paid') throw new HttpError('notFound', { detail: 'no plan that is sold' });
          if (open?.plan.id !== plan.id) await room.choose(user, plan);
          const result = await room.applyPromotion(user, body.coupon, addressOf(req));
          if (result.kind === 'refused') throw promotionError(result.refusal);
          const { promotion } = result.purchase;
          const { dueCents } = await room.quote(user, plan, promotion);
          return {
            ...{ subscription_id: subscriptionId, planId: plan.id, coupon: promotion?.code ?? '' },
            ...{ amount: dollars(dueCents), currency: catalogue.currency },
          };
        });
      },
    }),
    operation({
      method: 'get',
      path: '/customer/coupons/{code}',
      id: 'coupon',
      summary: 'What a promotion code takes off, if it is one',
      params: z.object({ code: text(100) }),
      answer: z.object({ data: coupon }),
      problems: { 404: 'No code that is in force' },
      // Codes are words, and words can be guessed.
      async handle({ req, params: { code } }) {
        const member = await callingMember(req, database);
        const refusal = member && (await countTry(deps, member, addressOf(req).ip, 'promotion-asked'));
        if (refusal) throw promotionError(refusal);
        const own = member && (await room.standing(member.id));
        const known = await orAway(failed.order, () => room.findCode(code, own?.customerId ?? undefined));
        const nowMs = deps.now();
        const why =
          known &&
          refusalOf(known, {
            ...{ dueCents: Number.MAX_SAFE_INTEGER, currency: catalogue.currency, productId: '' },
            ...{ customerId: own?.customerId ?? '', boughtBefore: false, nowMs },
          });
        if (!known || (why && why.kind !== 'not-for-this-plan')) throw promotionError({ kind: 'unknown' });
        const { percentOff, amountOffCents } = discountOfCoupon(known.coupon);
        if (amountOffCents !== null && known.coupon.currency !== catalogue.currency)
          throw promotionError({ kind: 'unknown' });
        return {
          data: {
            // The word that members type: the coupon's own id would go past what the code asks for.
            id: known.promotion?.code ?? known.coupon.id,
            ...{ percent_off: percentOff, percent_off_precise: percentOff, amount_off: amountOffCents },
          },
        };
      },
    }),
  ];
}
