import { toPlanId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import type { PersonalDataSource } from '../users/index.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import { eraseDetails, findDetails, type StoredDetails } from './details/details-store.ts';
import { eraseGifts, listRedeemedGifts } from './gifts/gift-store.ts';
import { addBillingTask, eraseTasks, listTasks } from './jobs/task-store.ts';
import { anonymiseOrders, listOrders } from './orders/order-store.ts';
import { eraseTrialClaims, listNotifications, listPurchases, listTrialClaims } from './personal-data-store.ts';
import { erasePurchases, findOpenPurchase } from './purchase/purchase-store.ts';
import { isPaused } from './subscription/membership.ts';
import { findRenewingMembership } from './subscription/membership-state.ts';
import { eraseMembership, findMembership, findStanding } from './subscription/membership-store.ts';
import { addPlanEnd } from './subscription/plan-end.ts';
import type { SubscriptionOnDeletion } from './subscription/subscription-on-deletion.ts';

/**
 * The membership of users who ask for deletion, and of those who stay after all. Stripe is not called here but by a
 * task, so that deletion also works while Stripe is unavailable.
 */
export function subscriptionOnDeletion(
  { db }: Pick<Database, 'db'>,
  catalogue: Pick<Catalogue, 'byId' | 'graceDays' | 'afterYear' | 'cancel' | 'currency'>,
): SubscriptionOnDeletion {
  return {
    async findRenewing(userId, nowMs) {
      const running = findRenewingMembership(await findStanding({ db }, userId), catalogue, nowMs);
      if (!running) return undefined;
      const { plan, until, unpaid, isTrial } = running;
      return { planName: plan?.name, until, unpaid, isTrial };
    },
    async cancelOnDeletion(trx, userId, { timing, nowMs, announcedEndsAt, refund }) {
      const membership = await findStanding({ db: trx }, userId);
      const running = findRenewingMembership(membership, catalogue, nowMs);
      if (!membership) return null;
      if (!running) {
        // A payment that waits for the user's bank must not complete, nor a paused subscription be resumed and charged.
        const charging = (await findOpenPurchase(trx, userId))?.state === 'charging';
        if (charging || isPaused(membership))
          await addBillingTask(trx, { kind: 'cancel-later', userId, customerId: membership.customerId }, nowMs);
        return null;
      }
      // An unpaid renewal has no period to wait for, and is not charged again after a request for deletion.
      const end = running.unpaid || refund ? 'at-once' : timing;
      const kind = end === 'at-once' ? 'cancel-now' : 'cancel-later';
      const isProrated = end === 'at-once' && !running.unpaid && catalogue.cancel === 'prorated';
      const later = { endsAt: nowMs, currency: catalogue.currency, parts: null };
      const notice = isProrated ? (refund ?? later) : undefined;
      // A change that Stripe has not taken yet has its prices in the task that is replaced now.
      const change = (await listTasks(trx, userId)).find((task) => task.kind === 'change-later')?.detail;
      await addPlanEnd(trx, { catalogue, nowMs }, { kind, membership, announcedEndsAt, notice });
      return end === 'period-end' && membership.nextPlanId !== null
        ? [end, membership.nextPlanId, ...(change ? [change] : [])].join(':')
        : end;
    },
    async resumeAfterCancellation(trx, userId, { noted, nowMs }) {
      // A subscription that ended at once cannot be restored.
      if (noted === 'at-once') return;
      // A scheduled change to a cheaper plan still takes effect: nothing is charged that the user did not confirm.
      const [, named, ...change] = noted.split(':');
      const planId = named === undefined ? null : toPlanId(named);
      const detail = change.length === 0 ? null : change.join(':');
      const customerId = (await findMembership(trx, userId))?.customerId ?? null;
      await addBillingTask(trx, { kind: 'keep', userId, customerId, planId, detail }, nowMs);
    },
  };
}

const withoutUser = ({ userId: _, ...details }: StoredDetails) => details;

/** The stored data about a user's plans, card and payments. Times in milliseconds since the epoch, amounts in cents. */
export const billingDataSource = ({ db }: Database): PersonalDataSource => ({
  name: 'membership',
  async exportData({ id }) {
    const [membership, purchases, orders, notified, trials, tasks, details, gifts] = await Promise.all([
      findMembership(db, id),
      listPurchases(db, id),
      listOrders(db, id),
      listNotifications(db, id),
      listTrialClaims(db, id),
      listTasks(db, id),
      findDetails(db, id),
      listRedeemedGifts(db, id),
    ]);
    const { userId: _, version: _version, ...subscription } = membership ?? {};
    return {
      subscription: membership ? subscription : null,
      purchases,
      billingDetails: details ? withoutUser(details) : null,
      orders: orders.map(({ userId: _, ...order }) => order),
      told: notified,
      trials,
      gifts,
      waiting: tasks.map(({ kind, createdAt }) => ({ kind, createdAt })),
    };
  },
  async erase(trx, { id }, nowMs) {
    const customerId = await eraseMembership(trx, id);
    await erasePurchases(trx, id);
    await eraseTrialClaims(trx, id);
    await eraseDetails(trx, id);
    await eraseGifts(trx, id);
    // Accounting data stay, without the user.
    await anonymiseOrders(trx, id);
    // Deleting the customer at Stripe also ends every subscription.
    if (customerId !== null) await addBillingTask(trx, { kind: 'delete-customer', userId: id, customerId }, nowMs);
    else await eraseTasks(trx, id);
  },
});
