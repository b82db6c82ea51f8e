import type Stripe from 'stripe';
import { hasSoldLines, toId, toMs } from './stripe-objects.ts';

/** A renewal with an attempted charge. */
const wasTried = (invoice: Stripe.Invoice) =>
  invoice.attempted && invoice.billing_reason === 'subscription_cycle' && hasSoldLines(invoice);

/** An attempted charge without success until now. */
export const isUnpaidRenewal = (invoice: Stripe.Invoice) => invoice.status === 'open' && wasTried(invoice);

/** The invoices that made a subscription past due: Stripe may call that of a scheduled plan an update, not a renewal. */
export const listOverdue = (subscriptions: readonly Stripe.Subscription[]): Set<string> =>
  new Set(
    subscriptions.flatMap(({ status, pending_update: change, latest_invoice: latest }) =>
      status === 'past_due' && !change && latest ? [toId(latest)] : [],
    ),
  );

/** A user has the free grace period at most once in this time (docs/decisions/0009-grace-once-a-year.md). */
const graceAgainMs = 365 * 24 * 60 * 60_000;

/** Tests whether grace was recently given for a renewal that was never paid. */
export const hasLapsed = (invoices: readonly Stripe.Invoice[], unpaid: Stripe.Invoice): boolean =>
  invoices.some(
    (one) =>
      (one.status === 'void' || one.status === 'uncollectible') &&
      wasTried(one) &&
      toMs(unpaid.created) - toMs(one.created) < graceAgainMs,
  );
