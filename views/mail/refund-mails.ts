import { defineMail, type MailLink } from './definition.ts';
import { amount, card, text } from './facts.ts';

/** Amounts in cents, `currency` as in `usd`. */
interface RefundedPayment {
  /** The page of the membership. */
  pageLink: string;
  /** Stripe's name of the card brand (`visa`); with the last four digits. Omitted: no card was charged. */
  cardType?: string;
  lastFour?: string;
  planName?: string;
  amountCents: number;
  currency: string;
  invoiceNumber?: string;
  /** Stripe's page of the invoice. */
  invoiceUrl?: string;
}

const refund: RefundedPayment = {
  pageLink: 'https://login.example.com/settings/membership',
  cardType: 'visa',
  lastFour: '4242',
  invoiceNumber: 'FOYER-0007',
  invoiceUrl: 'https://invoice.stripe.com/i/acct_1/live_7?s=ap',
  planName: 'Starter',
  amountCents: 4_950,
  currency: 'usd',
};

const refundFacts = [
  amount('mail.membership.amount', 'amountCents'),
  card('mail.membership.card'),
  text('mail.membership.plan', 'planName'),
  text('mail.membership.invoiceNumber', 'invoiceNumber'),
] as const;

const open: MailLink<RefundedPayment> = { label: 'mail.membership.open', href: ({ pageLink }) => pageLink };
const invoicePage: MailLink<RefundedPayment> = {
  label: 'mail.membership.invoice',
  href: ({ invoiceUrl }) => invoiceUrl,
};

/** The mails about money that goes back. */
export const refundMails = {
  'refund-made': defineMail<RefundedPayment>({
    name: 'refundMade',
    facts: refundFacts,
    button: open,
    notes: [{ link: invoicePage }],
    sample: refund,
  }),
  /** The bank has not accepted the refund: the money is back with the seller. */
  'refund-failed': defineMail<RefundedPayment>({
    name: 'refundFailed',
    facts: refundFacts,
    advice: 'mail.refundFailed.then',
    button: open,
    notes: [{ link: invoicePage }],
    sample: refund,
  }),
  /** The bank takes back a payment. `end`: whether the plan ends with its period or has ended. */
  'payment-disputed': defineMail<RefundedPayment & { end: 'period-end' | 'at-once' }>({
    name: 'paymentDisputed',
    lead: ({ end }, { t }) => t(`mail.paymentDisputed.lead.${end === 'at-once' ? 'atOnce' : 'periodEnd'}`),
    facts: refundFacts,
    advice: 'mail.paymentDisputed.then',
    button: open,
    notes: [{ link: invoicePage }],
    sample: { ...refund, amountCents: 9_900, end: 'period-end' },
  }),
};
