import type { Request } from 'express';
import { z } from 'zod';
import { callingMember, findUserRecord } from '../account/index.ts';
import { HttpError, type Operation, operation } from '../http/index.ts';
import { failed, orAway } from './callers.ts';
import type { Plan } from './catalogue.ts';
import { findOrderOf, type Order } from './order-store.ts';
import type { MembershipRoom } from './room.ts';
import {
  refuseDifferent,
  saidAmount,
  sameAmount,
  sameAs,
  toWireOrder,
  toWirePlan,
  wireOrder,
  wirePlan,
} from './wire.ts';

const text = (most: number) => z.string().max(most);
const items = z.object({ data: z.object({ Items: z.array(wirePlan) }) });
const itemsOf = (...plans: (Plan | undefined)[]) => ({
  data: { Items: plans.flatMap((plan) => (plan ? [toWirePlan(plan)] : [])) },
});

/** The specification's order: every value may be left out but the invoice, and none may differ. */
const orderBody = z.object({
  id: text(100).optional(),
  invoiceId: text(100).min(1),
  /** Milliseconds since the epoch, or an ISO 8601 text. */
  orderDate: z.union([z.int(), text(40)]).optional(),
  orderPurchase: text(20).optional(),
  orderType: text(20).optional(),
  totalAmountPaid: saidAmount.optional(),
  usedCredits: saidAmount.nullable().optional(),
  userId: text(100).optional(),
  planId: text(100).optional(),
});

/** The calls on plans and orders (the specification's section 7, signup API). */
export function planOperations(room: MembershipRoom): Operation[] {
  const { catalogue, deps } = room;
  const { database } = deps;

  /** The order of a paid invoice of this caller's. Where its news is not here yet, Stripe is asked. */
  async function orderFor(req: Request, invoiceId: string, userId: string | undefined): Promise<Order | undefined> {
    const member = await callingMember(req, database);
    const find = async () => {
      const order = await findOrderOf(database.db, invoiceId);
      return order && (member === undefined || order.userId === member.id) ? order : undefined;
    };
    const known = await find();
    const whose = member?.id ?? userId;
    if (known || whose === undefined) return known;
    await orAway(failed.order, () => room.refresh(whose));
    return find();
  }

  /** Callers name a member by either id. */
  async function isMember(order: Order, userId: string | undefined): Promise<boolean | undefined> {
    if (userId === undefined) return undefined;
    if (userId === order.userId) return true;
    return order.userId !== null && (await findUserRecord(database.db, order.userId))?.id === userId;
  }

  return [
    operation({
      method: 'post',
      path: '/user/listPlans',
      id: 'listPlans',
      summary: 'The plans that anybody can choose, the cheapest first',
      body: z.object({ tableName: text(100).optional() }),
      answer: items,
      handle: async () =>
        itemsOf(
          ...catalogue.plans
            .filter(({ kind }) => kind !== 'partner')
            .toSorted((one, other) => one.amountCents - other.amountCents),
        ),
    }),
    operation({
      method: 'post',
      path: '/user/listplanWithHash',
      id: 'listPlanWithHash',
      summary: 'The plan of a public handle; none, where there is none',
      body: z.object({ planHash: text(100) }),
      answer: items,
      handle: async ({ body }) => itemsOf(catalogue.byKey(body.planHash)),
    }),
    operation({
      method: 'post',
      path: '/user/listplanWithId',
      id: 'listPlanWithId',
      summary: 'The plan of an id; none, where there is none',
      body: z.object({ planId: text(100) }),
      answer: items,
      handle: async ({ body }) => itemsOf(catalogue.byId(body.planId)),
    }),
    operation({
      method: 'post',
      path: '/user/orderCreation',
      id: 'orderCreation',
      summary: 'The order of a paid invoice. The server writes it; values that differ from it are refused',
      body: orderBody,
      answer: z.object({ data: wireOrder }),
      problems: { 404: 'No such invoice, or it is not paid', 409: 'Differs from the invoice' },
      async handle({ req, body }) {
        const order = await orderFor(req, body.invoiceId, body.userId);
        if (!order) throw new HttpError('notFound', { said: failed.order, detail: 'no such paid invoice' });
        const wire = toWireOrder(order);
        const date = typeof body.orderDate === 'string' ? Date.parse(body.orderDate) : body.orderDate;
        refuseDifferent([
          sameAs('id', body.id, order.id),
          sameAs('orderDate', date, order.orderedAt),
          sameAs('orderPurchase', body.orderPurchase, order.orderPurchase),
          sameAs('orderType', body.orderType, order.orderType),
          sameAmount('totalAmountPaid', body.totalAmountPaid, order.paidCents),
          sameAmount('usedCredits', body.usedCredits, order.usedCreditCents),
          sameAs('planId', body.planId, order.planId ?? ''),
          { name: 'userId', agrees: await isMember(order, body.userId), true_: order.userId ?? '' },
        ]);
        return { data: wire };
      },
    }),
  ];
}
