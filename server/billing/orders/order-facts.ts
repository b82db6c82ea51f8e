import type { BillingDeps } from '../deps.ts';
import { cardText } from '../subscription/membership-changes.ts';
import type { Order } from './order.ts';

/** The facts of an order in mails. */
export function orderFacts({ catalogue }: Pick<BillingDeps, 'catalogue'>, order: Order) {
  const plan = catalogue.byId(order.planId);
  return {
    ...cardText(order.card),
    ...(plan && { planName: plan.name }),
    currency: order.currency,
    ...(order.invoiceNumber !== null && { invoiceNumber: order.invoiceNumber }),
    ...(order.invoiceUrl !== null && { invoiceUrl: order.invoiceUrl }),
  };
}
