import { newId } from './new-id.ts';
import type { InvoiceLine, Subscription, SubscriptionItem } from './objects.ts';

/** The part of a line that a discount takes off. */
export interface Cut {
  discount: string;
  amount: number;
}

/** One line of a future invoice: amounts in cents, below 0 for credits. */
export interface DraftLine {
  item: SubscriptionItem;
  cents: number;
  period: { start: number; end: number };
  description: string;
  proration: boolean;
  /** Of a proration, which no discount applies to any more; below 0 for credits. */
  cuts?: Cut[];
  /** Whether it is paid time, which credits for its unused part refer to. */
  debit: boolean;
  /** For a credit: the invoice and line of the unused part. */
  credited?: { invoice: string; line: string };
}

export function makeLine(subscription: Subscription, draft: DraftLine): InvoiceLine {
  const { item, credited } = draft;
  const details = {
    proration: draft.proration,
    proration_details: draft.proration
      ? { credited_items: credited ? { invoice: credited.invoice, invoice_line_items: [credited.line] } : null }
      : null,
    subscription: subscription.id,
  };
  return {
    id: newId('il'),
    object: 'line_item',
    amount: draft.cents,
    currency: item.price.currency,
    description: draft.description,
    discount_amounts: draft.cuts ?? [],
    discountable: !draft.proration,
    discounts: [],
    invoice: null,
    livemode: false,
    metadata: {},
    parent: draft.proration
      ? {
          invoice_item_details: { ...details, invoice_item: newId('ii') },
          subscription_item_details: null,
          type: 'invoice_item_details',
        }
      : {
          invoice_item_details: null,
          subscription_item_details: { ...details, invoice_item: null, subscription_item: item.id },
          type: 'subscription_item_details',
        },
    period: draft.period,
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: item.price.id, product: item.price.product },
      type: 'price_details',
      unit_amount_decimal: item.price.unit_amount_decimal,
    },
    quantity: item.quantity,
    quantity_decimal: String(item.quantity),
    subscription: subscription.id,
    subtotal: draft.cents,
    taxes: [],
  };
}
