import type { Request } from 'express';
import { z } from 'zod';
import type { User } from '../account/index.ts';
import { HttpError, type Operation, operation } from '../http/index.ts';
import { failed, orAway, ownerOf, refusePaused, tooMany } from './callers.ts';
import { type Catalogue, type Plan, validityDays } from './catalogue.ts';
import { addressOf, promotionError } from './customer-operations.ts';
import { type Order, ordersOf } from './order-store.ts';
import type { CardSaved, Confirmed, Purchase } from './results.ts';
import type { MembershipRoom } from './room.ts';
import { isPaused, type Membership } from './standing.ts';
import { centsOf, dollars, refuseDifferent, saidAmount, sameAmount, sameAs, toWireCard, wireCard } from './wire.ts';

const text = (most: number) => z.string().max(most);
/** One, or a list. */
const purchaseType = z.union([text(50), z.array(text(50)).max(10)]);

/** The specification's upgrade payload. */
const upgradeBody = z.object({
  /** The plan's id, code, price key or name; a name that two plans have needs the interval. */
  plan_name: text(200).min(1),
  /** Whole dollars. */
  plan_amount: saidAmount.optional(),
  interval: text(20).optional(),
  /** What is charged today, as it was shown to the member: nothing else is. */
  amount: saidAmount,
  /** Days. */
  validity: z.union([z.int(), text(10)]).optional(),
  currency: text(3).optional(),
  purchase_type: purchaseType.optional(),
  discountCoupon: text(100).nullable().optional(),
  /** What the promotion code takes off today, and of each renewal. */
  planDiscountVoucher: saidAmount.nullable().optional(),
  recurDiscount: saidAmount.nullable().optional(),
  checkout_type: text(100).optional(),
});
type UpgradeBody = z.infer<typeof upgradeBody>;

const upgraded = z.object({
  status: z.enum(['paid', 'scheduled']),
  planId: z.string(),
  /** null: nothing was charged today. */
  stripe_invoice_id: z.string().nullable(),
  order_date: z.int().nullable(),
  amount: z.string(),
  currency: z.string(),
  /** Since when the member has the plan. */
  starts_at: z.int(),
});
type Upgraded = z.infer<typeof upgraded>;

const typeOfInterval: Record<string, '1' | '2'> = {
  ...{ '1': '1', month: '1', monthly: '1' },
  ...{ '2': '2', year: '2', yearly: '2', annual: '2' },
};

/** @throws {HttpError} 409 when it names none, or several */
function planOf({ plans }: Catalogue, { plan_name: name, interval }: UpgradeBody): Plan {
  const type = interval === undefined ? undefined : typeOfInterval[interval.toLowerCase()];
  const found = plans.filter(
    (plan) =>
      plan.kind === 'paid' &&
      [plan.id, plan.code, plan.lookupKey, plan.name].includes(name) &&
      (interval === undefined || plan.type === type),
  );
  const [plan, other] = found;
  if (plan && !other) return plan;
  const detail = other ? 'names several plans: write the interval, month or year' : 'names no plan that is sold';
  throw new HttpError('conflict', { detail, faults: [{ name: 'body.plan_name', detail }] });
}

const isForPlans = (said: z.infer<typeof purchaseType> | undefined) =>
  said === undefined || [said].flat().includes('plan');

/** @throws {HttpError} 409 */
function refuseOtherPlan(said: UpgradeBody, plan: Plan, { currency }: Catalogue): void {
  refuseDifferent([
    sameAmount('plan_amount', said.plan_amount, plan.amountCents),
    sameAs('validity', said.validity, validityDays[plan.type ?? '1']),
    sameAs('currency', said.currency, currency),
    { name: 'purchase_type', agrees: isForPlans(said.purchase_type), true_: 'plan' },
  ]);
}

const done = (plan: Plan, order: Order | undefined, currency: string, nowMs: number): Upgraded => ({
  ...{ status: 'paid', planId: plan.id, stripe_invoice_id: order?.invoiceId ?? null },
  ...{ order_date: order?.orderedAt ?? null, amount: dollars(order?.paidCents ?? 0), currency },
  starts_at: order?.orderedAt ?? nowMs,
});

/** How a purchase ended, for callers. @throws {HttpError} where it is not done */
function answerTo(confirmed: Confirmed, currency: string, nowMs: number): Upgraded {
  switch (confirmed.kind) {
    case 'paid':
      return done(confirmed.plan, confirmed.order, currency, nowMs);
    case 'scheduled':
      return {
        ...{ status: 'scheduled', planId: confirmed.plan.id, stripe_invoice_id: null, order_date: null },
        ...{ amount: dollars(0), currency, starts_at: confirmed.at },
      };
    case 'declined':
      throw new HttpError('paymentRequired', { detail: 'declined', extra: { errMessage: confirmed.message } });
    case 'action':
      throw new HttpError('paymentAction', {
        detail: 'the bank wants to hear from the member',
        extra: { client_secret: confirmed.clientSecret },
      });
    case 'changed':
      throw new HttpError('conflict', {
        detail: 'another amount is due',
        faults: [{ name: 'body.amount', detail: `is ${dollars(confirmed.quote.dueCents)}` }],
      });
    case 'no-card':
      throw new HttpError('conflict', { said: 'There is no card to charge', detail: 'no card' });
    case 'unpaid-first':
      throw new HttpError('conflict', { said: 'An earlier invoice must be paid first', detail: 'unpaid invoice' });
    case 'paused':
      throw refusePaused();
    case 'nothing':
      throw new HttpError('conflict', { said: 'There is nothing to change', detail: 'nothing to confirm' });
    case 'too-many':
      throw tooMany(confirmed.retryAfterMs);
  }
}

function savedOrRefused(saved: CardSaved | { kind: 'too-many'; retryAfterMs: number }) {
  switch (saved.kind) {
    case 'saved':
      return { data: [toWireCard(saved.card)] };
    case 'declined':
      throw new HttpError('paymentRequired', { detail: 'card declined', extra: { errMessage: saved.message } });
    case 'not-confirmed':
      throw new HttpError('notFound', { said: failed.update, detail: 'no such card, or not confirmed' });
    case 'too-many':
      throw tooMany(saved.retryAfterMs);
  }
}

/** Whether the member is on this plan already, with nothing under way that would change it. */
const isOn = (plan: Plan, { status, pricedPlanId, paidPlanId, cancelAtPeriodEnd, nextPlanId }: Membership) =>
  status === 'active' &&
  pricedPlanId === plan.id &&
  paidPlanId === plan.id &&
  !cancelAtPeriodEnd &&
  nextPlanId === null;

/** The calls that save a card and charge it (the specification's section 7, payments API). */
export function paymentOperations(room: MembershipRoom): Operation[] {
  const { catalogue, deps } = room;
  const { database } = deps;

  /** The purchase of this plan with this code: the one that is open, else a new one. @throws {HttpError} */
  async function purchaseOf(req: Request, user: User, plan: Plan, code: string | null | undefined): Promise<Purchase> {
    const open = await room.purchase(user.id);
    const purchase = open?.plan.id === plan.id ? open : await room.choose(user, plan);
    if (!code) return purchase;
    const { promotion } = purchase;
    if (promotion) {
      const same = [promotion.code, promotion.typed].some((word) => word.toLowerCase() === code.trim().toLowerCase());
      if (!same) throw promotionError({ kind: 'second' });
      return purchase;
    }
    const applied = await room.applyPromotion(user, code, addressOf(req));
    if (applied.kind === 'refused') throw promotionError(applied.refusal);
    return applied.purchase;
  }

  /** The amounts that the server has come to: what was shown to the member must be the same. @throws {HttpError} 409 */
  async function refuseOtherAmounts(
    user: User,
    said: UpgradeBody,
    { plan, promotion, state }: Purchase,
  ): Promise<void> {
    // What waits for its payment stands; whether it was announced so is seen when it goes on.
    if (state !== 'open') return;
    const quote = await room.quote(user, plan, promotion);
    refuseDifferent([
      sameAmount('amount', said.amount, quote.dueCents),
      sameAmount('planDiscountVoucher', said.planDiscountVoucher, quote.discountCents),
      sameAmount('recurDiscount', said.recurDiscount, plan.amountCents - quote.laterCents),
    ]);
  }

  return [
    operation({
      method: 'post',
      path: '/customer/{stripeCustomerId}/subscription/{subscriptionId}',
      id: 'upgradeSubscription',
      summary:
        'Buys a plan with the saved card, for exactly the amount that was shown; asking again goes on with what was begun',
      params: z.object({ stripeCustomerId: text(100), subscriptionId: text(100) }),
      body: upgradeBody,
      answer: upgraded,
      problems: {
        402: 'Declined (errMessage), or the bank wants to hear from the member (client_secret); ask again afterwards',
        404: 'No such customer, subscription or promotion code',
        409: 'Differs from what the server says; or there is no card, an unpaid invoice, a paused subscription, or nothing to change',
      },
      async handle({ req, params, body }) {
        const { stripeCustomerId: customerId, subscriptionId } = params;
        const { user, membership } = await ownerOf(req, database, { customerId, subscriptionId });
        const plan = planOf(catalogue, body);
        refuseOtherPlan(body, plan, catalogue);
        const { currency } = catalogue;
        if (isPaused(membership)) throw refusePaused();
        return orAway(failed.order, async () => {
          if (isOn(plan, membership)) {
            // A second click, or an answer that was lost: the order that there is.
            const order = (await ordersOf(database.db, user.id)).find(({ planId }) => planId === plan.id);
            if (order && order.paidCents === centsOf(body.amount)) return done(plan, order, currency, deps.now());
            return answerTo({ kind: 'nothing', plan }, currency, deps.now());
          }
          const purchase = await purchaseOf(req, user, plan, body.discountCoupon);
          await refuseOtherAmounts(user, body, purchase);
          const announced = { planId: plan.id, dueCents: centsOf(body.amount) };
          return answerTo(await room.confirm(user, announced, addressOf(req)), currency, deps.now());
        });
      },
    }),
    operation({
      method: 'post',
      path: '/customer/{stripeCustomerId}/paymenttypes/',
      alsoAt: '/customer/{stripeCustomerId}/paymenttypes',
      id: 'savePaymentType',
      summary:
        'Saves the card that is charged from now on: by a setup intent that the browser has confirmed, or by a token',
      params: z.object({ stripeCustomerId: text(100) }),
      body: z.object({
        purchase_type: purchaseType.optional(),
        source: z.string().regex(/^(tok|seti)_\w{1,200}$/, 'write the id of a token or of a setup intent'),
        is_default: z.boolean().optional(),
      }),
      answer: z.object({ data: z.array(wireCard) }),
      problems: {
        402: 'The card provider has refused the card (errMessage)',
        404: 'No such customer, token or confirmed setup intent',
        409: 'There is one card, and it is the default one',
      },
      async handle({ req, params, body }) {
        const { user } = await ownerOf(req, database, { customerId: params.stripeCustomerId });
        refuseDifferent([
          { name: 'is_default', agrees: body.is_default !== false, true_: 'true' },
          { name: 'purchase_type', agrees: isForPlans(body.purchase_type), true_: 'plan' },
        ]);
        const { source } = body;
        return orAway(failed.update, async () =>
          savedOrRefused(
            source.startsWith('seti_')
              ? await room.keepCard(user, source)
              : await room.keepToken(user, source, addressOf(req)),
          ),
        );
      },
    }),
  ];
}
