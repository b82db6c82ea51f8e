import type { Transaction } from 'kysely';
import type { Schema } from '../../store/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { addBillingTask, type BillingTask, listTasks } from '../jobs/task-store.ts';
import type { EndOnNotice } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import { readEndOnNotice } from './end-on-notice.ts';
import type { Membership } from './membership.ts';
import { findNoticeEndNow } from './notice-rules.ts';

/**
 * Writes down the end of a paid plan that follows from another act: the deletion of the account, a free plan, a partner's
 * deal. It is a cancellation too, so a following year that ends on a month's notice gives the rest back
 * (`afterYear: year-with-refund`); Stripe computes the amount when the task is done.
 * @param end.announcedEndsAt the end on notice that a page has named
 * @param end.notice the end at once with its refund (`cancel: prorated`)
 */
export async function addPlanEnd(
  trx: Transaction<Schema>,
  { catalogue, nowMs }: { catalogue: Pick<Catalogue, 'byId' | 'afterYear' | 'currency'>; nowMs: number },
  end: {
    kind: 'cancel-later' | 'cancel-now';
    membership: Membership;
    announcedEndsAt?: number | undefined;
    notice?: EndOnNotice | undefined;
  },
): Promise<BillingTask> {
  const { kind, membership, announcedEndsAt } = end;
  const { userId, customerId } = membership;
  // One that Stripe has not confirmed keeps its day and its amount.
  const noted = (await listTasks(trx, userId)).flatMap((task) => readEndOnNotice(task) ?? []).at(-1);
  const isEnding = membership.cancelAtPeriodEnd && membership.nextPlanId === null;
  const orders = await listOrders(trx, userId);
  const endsAt = isEnding ? undefined : findNoticeEndNow({ membership, orders, nowMs, announcedEndsAt }, catalogue);
  const notice: EndOnNotice | undefined =
    noted ?? end.notice ?? (endsAt === undefined ? undefined : { endsAt, currency: catalogue.currency, parts: null });
  const detail = notice ? JSON.stringify(notice) : null;
  return addBillingTask(trx, { kind, userId, customerId, detail }, nowMs);
}
