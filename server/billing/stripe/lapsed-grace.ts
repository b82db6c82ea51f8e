import type Stripe from 'stripe';
import { wasTried } from './stripe-invoices.ts';
import { toMs } from './stripe-objects.ts';

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
