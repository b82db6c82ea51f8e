import type { Transaction } from 'kysely';
import type { PlanEnd } from '../../../config/plans.ts';
import type { UserId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { findUser } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, listTasks } from '../jobs/task-store.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { type Membership, trialPlanKey } from '../subscription/membership.ts';
import { notifyMembership } from '../subscription/membership-changes.ts';
import { findMembership } from '../subscription/membership-store.ts';
import type { MoneyBack } from './money-back.ts';
import { type Order, type RefundTask, toReturnableCents } from './order.ts';
import { orderFacts } from './order-facts.ts';
import { listOrders, takesMoney } from './order-store.ts';

interface Change {
  /** As it was before. */
  order: Order;
  back: MoneyBack;
}

const startsDispute = ({ order, back }: Change): boolean =>
  takesMoney(back.disputeState) && !takesMoney(order.disputeState);

function becomesFullRefund({ order, back }: Change): boolean {
  const allCents = toReturnableCents(order);
  return order.refundedCents < allCents && back.refundedCents >= allCents;
}

/** The last payment is the one that gives the present plan. */
async function isLastPayment(trx: Transaction<Schema>, { id }: Order, userId: UserId): Promise<boolean> {
  return (await listOrders(trx, userId)).find(({ paidCents }) => paidCents > 0)?.id === id;
}

/** The refund of this order that is being made; one for a later end is not. */
async function findRefundTask(
  trx: Transaction<Schema>,
  { userId, nowMs }: { userId: UserId; nowMs: number },
  { invoiceId }: Order,
): Promise<RefundTask | undefined> {
  const tasks = (await listTasks(trx, userId)).filter(({ kind }) => kind === 'refund');
  const refunds = tasks.map(({ detail }) => parseColumn(storedValues.refund, detail));
  return refunds.find((one) => one?.invoiceId === invoiceId && (one.after?.endsAt ?? 0) <= nowMs) ?? undefined;
}

async function chooseEnd(
  { catalogue, now }: BillingDeps,
  trx: Transaction<Schema>,
  { order, back, userId }: Change & { userId: UserId },
): Promise<PlanEnd> {
  if (startsDispute({ order, back })) return catalogue.onDispute;
  const isMore = back.refundedCents > order.refundedCents;
  const request = isMore ? await findRefundTask(trx, { userId, nowMs: now() }, order) : undefined;
  if (request?.end) return request.end;
  const isRefund = becomesFullRefund({ order, back }) && (await isLastPayment(trx, order, userId));
  return isRefund ? catalogue.onFullRefund : 'keep';
}

const hasPaidSubscription = (membership: Membership | undefined): membership is Membership =>
  membership !== undefined && membership.subscriptionId !== null && membership.pricedPlanId !== trialPlanKey;

/**
 * Decides, in the transaction that records a dispute or a full refund, whether the plan ends as the catalogue says. Each
 * change is recorded once, so an event that comes twice or late ends nothing twice.
 */
export async function endAfterMoneyBack(deps: BillingDeps, trx: Transaction<Schema>, change: Change): Promise<void> {
  const { order } = change;
  const { userId } = order;
  if (userId === null) return;
  const end = await chooseEnd(deps, trx, { ...change, userId });
  const membership = await findMembership(trx, userId);
  if (end === 'keep' || !hasPaidSubscription(membership)) return;
  const kind = end === 'at-once' ? 'cancel-now' : 'cancel-later';
  await addBillingTask(trx, { kind, userId, customerId: membership.customerId }, deps.now());
  deps.log.info({ act: 'end-after-money-back', member: userId, invoice: order.invoiceId, end }, 'a plan will end');
  const user = startsDispute(change) ? await findUser(trx, userId) : undefined;
  if (!user) return;
  const values = { ...orderFacts(deps, order), amountCents: order.paidCents, end };
  await notifyMembership(deps, trx, { user, mail: { template: 'payment-disputed', values } });
}
