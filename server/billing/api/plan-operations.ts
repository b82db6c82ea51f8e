import type { Request } from 'express';
import { z } from 'zod';
import {
  type ApiOperation,
  aliasMeta,
  defineOperation,
  describedAs,
  doc,
  HttpError,
  idField,
  withDocs,
} from '../../http/index.ts';
import type { StripeInvoiceId, UserId } from '../../shared/index.ts';
import type { Database } from '../../store/index.ts';
import { findCallingUser, findUserRecord } from '../../users/index.ts';
import type { BillingModule } from '../billing-module.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { Order } from '../orders/order.ts';
import { findOrderByInvoice } from '../orders/order-store.ts';
import {
  amountSchema,
  compareAmount,
  compareValue,
  orderSchema,
  planSchema,
  rejectDifferent,
  toWireOrder,
  toWirePlan,
} from '../stripe/wire-format.ts';
import { apiErrorTexts, orUnavailable } from './api-errors.ts';
import { billingDocs, orderDocs } from './billing-docs.ts';

const text = (max: number) => z.string().max(max);
const plans = z.array(planSchema).meta(doc('The plans'));
const items = z
  .object({
    data: z.object({ Items: plans }).meta({ id: 'PlanList', description: 'Plans.' }),
    Items: plans.meta(aliasMeta('data.Items')),
  })
  .meta({ id: 'PlanListAnswer', description: 'Plans, at two levels.' });
const toItems = (...found: (Plan | undefined)[]): z.input<typeof items> => {
  const Items = found.flatMap((plan) => (plan ? [toWirePlan(plan)] : []));
  return { data: { Items }, Items };
};

/**
 * The specification's order: only the invoice is required. Older callers write the order themselves, with an id and a date
 * of their own: both are ignored. No other value may differ.
 */
const orderBody = z.object({
  id: text(100).optional(),
  invoiceId: text(100).min(1).brand<'StripeInvoiceId'>(),
  /** Milliseconds since the epoch, or an ISO 8601 text. */
  orderDate: z
    .union([z.int(), text(40)])
    .meta(describedAs({ type: 'integer' }))
    .optional(),
  orderPurchase: text(20).optional(),
  orderType: text(20).optional(),
  totalAmountPaid: amountSchema.optional(),
  usedCredits: amountSchema.nullable().optional(),
  userId: idField(text(100).brand<'UserId'>(), '0197f3c2-9b1e-7a44').optional(),
  planId: idField(text(100), '12').optional(),
});

function planListOperations({ catalogue }: BillingModule): ApiOperation[] {
  return [
    defineOperation({
      method: 'post',
      path: '/user/listPlans',
      id: 'listPlans',
      summary: 'List the plans',
      description: 'The plans that anyone can choose, the cheapest first.',
      body: z.object({ tableName: text(100).optional().meta(doc('Accepted and ignored', 'plans')) }),
      answer: items,
      handle: async () =>
        toItems(
          ...catalogue.plans
            .filter(({ kind }) => kind !== 'partner')
            .toSorted((one, other) => one.amountCents - other.amountCents),
        ),
    }),
    defineOperation({
      method: 'post',
      path: '/user/listplanWithHash',
      id: 'listPlanWithHash',
      summary: 'Find a plan by its public handle',
      description: 'The list is empty if no plan has the handle.',
      body: z.object({
        planHash: text(100).brand<'PlanKey'>().meta(doc('Public handle of the plan', 'starter-monthly')),
      }),
      answer: items,
      handle: async ({ body }) => toItems(catalogue.byKey(body.planHash)),
    }),
    defineOperation({
      method: 'post',
      path: '/user/listplanWithId',
      id: 'listPlanWithId',
      summary: 'Find a plan by its id',
      description: 'The list is empty if no plan has the id.',
      body: z.object({ planId: idField(text(100).brand<'PlanId'>().nullable(), '12').meta(billingDocs.planId) }),
      answer: items,
      handle: async ({ body: { planId } }) => toItems(planId === null ? undefined : catalogue.byId(planId)),
    }),
  ];
}

/** The order of a paid invoice of this caller. If its event has not arrived yet, Stripe is asked. */
async function findPaidOrder(
  req: Request,
  { deps: { database }, refresh }: BillingModule,
  { invoiceId, userId }: { invoiceId: StripeInvoiceId; userId?: UserId | undefined },
): Promise<Order | undefined> {
  const member = await findCallingUser(req, database);
  const find = async () => {
    const order = await findOrderByInvoice(database.db, invoiceId);
    return order && (member === undefined || order.userId === member.id) ? order : undefined;
  };
  const known = await find();
  const owner = member?.id ?? userId;
  if (known || owner === undefined) return known;
  await orUnavailable(apiErrorTexts.order, () => refresh(owner));
  return find();
}

/** Callers name a user by either id. */
async function isMember({ db }: Database, order: Order, userId: string | undefined): Promise<boolean | undefined> {
  if (userId === undefined) return undefined;
  if (userId === order.userId) return true;
  return order.userId !== null && (await findUserRecord(db, order.userId))?.id === userId;
}

function orderCreationOperation(billing: BillingModule): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/user/orderCreation',
    id: 'orderCreation',
    summary: 'Read the order of a paid invoice',
    description: 'The server writes orders. Values that differ from the order are refused.',
    body: withDocs(orderBody, orderDocs),
    answer: z.object({ data: orderSchema }).meta({ id: 'OrderAnswer', description: 'An order.' }),
    problems: { 404: 'No such invoice, or it is not paid', 409: 'Differs from the invoice' },
    async handle({ req, body }) {
      const order = await findPaidOrder(req, billing, body);
      if (!order)
        throw new HttpError('unknownInvoice', { publicDetail: apiErrorTexts.order, detail: 'no such paid invoice' });
      const wire = toWireOrder(order);
      rejectDifferent([
        compareValue('orderPurchase', body.orderPurchase, order.orderPurchase),
        compareValue('orderType', body.orderType, order.orderType),
        compareAmount('totalAmountPaid', body.totalAmountPaid, order.paidCents),
        compareAmount('usedCredits', body.usedCredits, order.usedCreditCents),
        compareValue('planId', body.planId, order.planId ?? ''),
        {
          name: 'userId',
          agrees: await isMember(billing.deps.database, order, body.userId),
          true_: order.userId ?? '',
        },
      ]);
      return { data: wire };
    },
  });
}

/** The calls on plans and orders (the specification's section 7, signup API). */
export const planOperations = (billing: BillingModule): ApiOperation[] => [
  ...planListOperations(billing),
  orderCreationOperation(billing),
];
