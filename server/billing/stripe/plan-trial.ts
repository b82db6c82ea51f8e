import type Stripe from 'stripe';
import { toPlanId } from '../../shared/index.ts';
import type { Membership } from '../subscription/membership.ts';
import type { Snapshot } from '../subscription/membership-store.ts';
import { planTrialKey } from '../subscription/plan-trial-rules.ts';
import { hasSoldLines } from './stripe-invoices.ts';
import { toMs } from './stripe-objects.ts';

type Tried = Pick<Snapshot, 'triedPlanId' | 'triedUntil'>;

/** The trial of a paid plan; when it is over, or another plan has followed, its end stays. */
export function readPlanTrial(
  { triedUntil }: Pick<Membership, 'triedUntil'>,
  { metadata, trial_end: end }: Pick<Stripe.Subscription, 'metadata' | 'trial_end'>,
): Tried {
  const planId = metadata[planTrialKey];
  return planId && end !== null
    ? { triedPlanId: toPlanId(planId), triedUntil: toMs(end) }
    : { triedPlanId: null, triedUntil };
}

/** Tests for a subscription whose first charge follows a trial: until it is paid, nothing was paid for its plan. */
export const isUnpaidTrial = (
  { metadata }: Pick<Stripe.Subscription, 'metadata'>,
  invoices: readonly Stripe.Invoice[],
): boolean => Boolean(metadata[planTrialKey]) && !invoices.some((one) => one.status === 'paid' && hasSoldLines(one));
