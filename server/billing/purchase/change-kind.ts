import type { Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { isReturned } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import type { Membership } from '../subscription/membership.ts';
import { type ChangeKind, changeKind } from '../subscription/membership-state.ts';

/**
 * How a user changes to a plan. A payment that went back, or that a bank may take back, gives no credit for its time: a
 * higher plan begins after that time.
 */
export async function readChangeKind(
  { catalogue, database, now }: Pick<BillingDeps, 'catalogue' | 'database' | 'now'>,
  membership: Membership,
  plan: Plan,
): Promise<ChangeKind> {
  const kind = changeKind(catalogue, membership, plan);
  if (kind !== 'upgrade') return kind;
  const orders = await listOrders(database.db, membership.userId);
  const isOfThisTime = orders.some(
    (order) =>
      isReturned(order) &&
      order.subscriptionId === membership.subscriptionId &&
      order.renewsAt !== null &&
      order.renewsAt > now(),
  );
  return isOfThisTime ? 'later' : kind;
}
