import { hourMs, minuteMs, type PlanId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import type { ChosenPromotion } from '../results.ts';
import { toMs } from '../stripe/stripe-objects.ts';
import type { Viewed } from '../subscription/changeable-subscription.ts';
import type { QuotedDate } from './charge.ts';
import { findOpenPurchase, insertPurchase, recordQuotedDate } from './purchase-store.ts';

/** An announced amount holds for so long. */
const quotedMs = 30 * minuteMs;

/** The upgrade that is quoted. */
interface QuotedUpgrade {
  planId: PlanId;
  promotion: ChosenPromotion | null;
  /** Of the running period, in seconds. */
  periodStart: number;
}

/**
 * The date from which an upgrade is prorated: the announced one for half an hour, as long as plan, code, subscription
 * and period are the same. Whole hours, so that a reloaded page shows the same amount.
 */
export async function getQuotedDate(
  { database: { db }, now }: Pick<BillingDeps, 'database' | 'now'>,
  { membership: { userId }, subscriptionId }: Viewed & { subscriptionId: string },
  { planId, promotion, periodStart }: QuotedUpgrade,
): Promise<number> {
  const nowMs = now();
  const hourBegan = Math.floor(nowMs / hourMs) * (hourMs / toMs(1));
  const fresh: QuotedDate = {
    prorationDate: Math.max(hourBegan, periodStart),
    at: nowMs,
    subscriptionId,
    periodStart,
    couponId: promotion?.couponId ?? null,
  };
  const purchase = (await findOpenPurchase(db, userId)) ?? (await insertPurchase(db, { userId, planId }, nowMs));
  // Another plan was chosen in another tab: this page announces nothing that is kept.
  if (purchase.planId !== planId || purchase.state !== 'open') return fresh.prorationDate;
  const { quoted } = purchase;
  const holds =
    quoted !== null &&
    nowMs - quoted.at < quotedMs &&
    quoted.subscriptionId === subscriptionId &&
    quoted.periodStart === periodStart &&
    quoted.couponId === fresh.couponId;
  if (holds && quoted.prorationDate !== fresh.prorationDate) return quoted.prorationDate;
  await recordQuotedDate(db, purchase, fresh);
  return fresh.prorationDate;
}
