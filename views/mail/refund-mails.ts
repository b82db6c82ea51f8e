import { defineMail, type MailLink } from './definition.ts';
import { amount, type Charged, chargedKind, chargedMethod, text } from './facts.ts';

/** Amounts in cents, `currency` as in `usd`. */
interface RefundedPayment extends Charged {
  /** The page of the membership. */
  pageLink: string;
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
  chargedMethod,
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
    lead: (values, { t }) => t(`mail.refundFailed.${chargedKind(values) === 'card' ? 'lead' : 'otherLead'}`),
    facts: refundFacts,
    advice: 'mail.refundFailed.then',
    button: open,
    notes: [{ link: invoicePage }],
    sample: refund,
  }),
  /** The bank takes back a payment. `end`: whether the plan ends with its period or has ended. */
  'payment-disputed': defineMail<RefundedPayment & { end: 'period-end' | 'at-once' }>({
    name: 'paymentDisputed',
    lead: ({ end, ...values }, { t }) => {
      const isCard = chargedKind(values) === 'card';
      if (end === 'at-once') return t(`mail.paymentDisputed.lead.${isCard ? 'atOnce' : 'otherAtOnce'}`);
      return t(`mail.paymentDisputed.lead.${isCard ? 'periodEnd' : 'otherPeriodEnd'}`);
    },
    facts: refundFacts,
    advice: 'mail.paymentDisputed.then',
    button: open,
    notes: [{ link: invoicePage }],
    sample: { ...refund, amountCents: 9_900, end: 'period-end' },
  }),
};
