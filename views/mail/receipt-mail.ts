import { formatAmount, formatPercent } from '../format.ts';
import { defineMail, type MailFact } from './definition.ts';
import { amount, type Charged, card, deduction, type PlanType, part, planWithPeriod, text, time } from './facts.ts';

/** The specification's receipt email fields, in its names. */
interface Receipt extends Charged {
  /** The page of the membership. */
  pageLink: string;
  invoiceNumber?: string;
  /** Stripe's page of the invoice. */
  invoiceUrl?: string;
  email: string;
  fullName: string;
  zipcode?: string;
  currency: string;
  /** The charged amount: after discount and credit. */
  totalAmount: number;
  /** The user record's totalRewards. */
  rewards: string;
  planName: string;
  planType: PlanType;
  /** Of a plan that is charged every so many days, not by the month or year. */
  everyDays?: number;
  /** Of a plan that is sold by the seat. */
  seats?: number;
  planAmount: number;
  orderDate: number;
  renewDate?: number;
  /** When the member has asked that the plan begins before a withdrawal is over. */
  beginRequestedAt?: number;
  discount: number;
  creditUsed: number;
  /** Of the plan before. */
  unused: number;
  /** The part of it that becomes credit. */
  keptCredit: number;
  /** Below 0: owed from before, and charged now. Above 0: too small to be charged. */
  debt?: number;
  /** The tax in what was charged. */
  tax: number;
  /** Its rate; omitted: several, or unknown. */
  taxPercent?: number;
}

const dayMs = 24 * 60 * 60_000;
const atMs = Date.UTC(2026, 10, 21, 18, 53);

const taxAmount = part('mail.membership.tax', 'tax');
/** The tax with its rate. */
const taxPart: MailFact<Parameters<typeof taxAmount.value>[0] & { taxPercent?: number }> = {
  ...taxAmount,
  value(values, context) {
    const amountText = taxAmount.value(values, context);
    if (amountText === undefined || values.taxPercent === undefined) return amountText;
    return `${amountText} (${formatPercent(context.lang, values.taxPercent)})`;
  },
};

/** A debt, with the words and the sign of the page that was ordered on. */
const debt = (
  label: 'checkout.lines.owed' | 'checkout.lines.small',
  toPart: (cents: number) => { sign: string; cents: number } | undefined,
): MailFact<Pick<Receipt, 'debt' | 'currency'>> => ({
  label,
  value({ debt: debtCents = 0, currency }, { lang }) {
    const one = toPart(debtCents);
    return one && `${one.sign}${formatAmount(lang, one.cents, { currency })}`;
  },
  as: 'amount',
});

/** The bought plan, with everything that was charged for it. */
export const receiptMail = defineMail<Receipt>({
  name: 'receipt',
  facts: [
    {
      label: 'mail.membership.plan',
      value: ({ planName, planType: type, everyDays, seats }, { t }) =>
        planWithPeriod(t, planName, { type, everyDays, seats }),
    },
    amount('mail.membership.planAmount', 'planAmount', 'amount'),
    deduction('mail.membership.discount', 'discount'),
    deduction('checkout.lines.unused', 'unused'),
    part('checkout.lines.kept', 'keptCredit'),
    deduction('mail.membership.creditUsed', 'creditUsed'),
    debt('checkout.lines.owed', (cents) => (cents < 0 ? { sign: '', cents: 0 - cents } : undefined)),
    debt('checkout.lines.small', (cents) => (cents > 0 ? { sign: '−', cents } : undefined)),
    amount('mail.membership.total', 'totalAmount', 'total'),
    taxPart,
    card('mail.membership.paidWith'),
    time('mail.membership.orderDate', 'orderDate'),
    time('mail.membership.renewsOn', 'renewDate'),
    time('mail.membership.beginsAtOnce', 'beginRequestedAt', 'exact'),
    text('mail.membership.invoiceNumber', 'invoiceNumber'),
    { label: 'mail.membership.billedTo', value: ({ fullName, email }) => `${fullName}, ${email}` },
    text('mail.membership.postalCode', 'zipcode'),
    text('mail.membership.rewards', 'rewards'),
  ],
  advice: ({ renewDate }, { t }) => (renewDate === undefined ? undefined : t('mail.receipt.renews')),
  button: { label: 'mail.membership.open', href: ({ pageLink }) => pageLink },
  notes: [{ link: { label: 'mail.membership.invoice', href: ({ invoiceUrl }) => invoiceUrl } }],
  sample: {
    pageLink: 'https://login.example.com/settings/membership',
    cardType: 'visa',
    lastFour: '4242',
    invoiceNumber: 'FOYER-0007',
    invoiceUrl: 'https://invoice.stripe.com/i/acct_1/live_7?s=ap',
    email: 'vera@example.com',
    fullName: 'Vera Adler',
    zipcode: '10117',
    currency: 'usd',
    totalAmount: 79_750,
    rewards: '5',
    planName: 'Starter',
    planType: '2',
    planAmount: 90_000,
    orderDate: atMs,
    renewDate: atMs + 365 * dayMs,
    discount: 9_000,
    creditUsed: 1_250,
    unused: 0,
    keptCredit: 0,
    tax: 12_733,
    taxPercent: 19,
  },
});
