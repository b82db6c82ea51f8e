import { formatDate } from '../format.ts';
import type { MailProps } from './mail-props.ts';
import {
  AboutMembership,
  type AboutValues,
  amount,
  type CardValues,
  card,
  date,
  type Fact,
  fact,
  keepCasing,
  type PlanType,
  planWithPeriod,
} from './membership-summary.tsx';

interface ReceiptValues extends AboutValues, CardValues {
  email: string;
  fullName: string;
  zipcode?: string;
  currency: string;
  totalAmount: number;
  rewards: string;
  planName: string;
  planType: PlanType;
  planAmount: number;
  orderDate: number;
  renewDate?: number;
  discount: number;
  creditUsed: number;
  invoiceNumber?: string;
  invoiceUrl?: string;
}

/** The specification's receipt email. */
export function Receipt(props: MailProps<ReceiptValues>) {
  const { ctx, values } = props;
  const { t } = ctx;
  const money = amount(ctx, values.currency);
  const off = (label: string, cents: number): Fact[] => (cents > 0 ? [[label, `−${money(cents)}`, 'amount']] : []);
  return (
    <AboutMembership
      {...props}
      name="receipt"
      lead={t('mail.receipt.lead')}
      facts={[
        [t('mail.membership.plan'), planWithPeriod(ctx, values.planName, values.planType)],
        [t('mail.membership.planAmount'), money(values.planAmount), 'amount'],
        ...off(t('mail.membership.discount'), values.discount),
        ...off(t('mail.membership.creditUsed'), values.creditUsed),
        [t('mail.membership.total'), money(values.totalAmount), 'total'],
        ...fact(t('mail.membership.paidWith'), card(values), keepCasing),
        [t('mail.membership.orderDate'), date(ctx)(values.orderDate)],
        ...fact(t('mail.membership.renewsOn'), values.renewDate, date(ctx)),
        ...fact(t('mail.membership.invoiceNumber'), values.invoiceNumber, keepCasing),
        [t('mail.membership.billedTo'), `${values.fullName}, ${values.email}`],
        ...fact(t('mail.membership.postalCode'), values.zipcode, keepCasing),
        [t('mail.membership.rewards'), values.rewards],
      ]}
      {...(values.renewDate !== undefined && { advice: t('mail.receipt.renews') })}
      invoiceUrl={values.invoiceUrl}
    />
  );
}

interface UnpaidValues extends AboutValues {
  planName: string;
  amountCents: number;
  currency: string;
  keptUntil?: number;
}

function unpaidFacts({ ctx, values }: Pick<MailProps<UnpaidValues>, 'ctx' | 'values'>): Fact[] {
  const { t } = ctx;
  return [
    [t('mail.membership.plan'), values.planName],
    [t('mail.membership.amount'), amount(ctx, values.currency)(values.amountCents)],
    ...fact(t('mail.membership.keptUntil'), values.keptUntil, date(ctx)),
  ];
}

export function PaymentFailed(props: MailProps<UnpaidValues & CardValues & { nextAttemptAt?: number }>) {
  const { ctx, values } = props;
  const { t } = ctx;
  return (
    <AboutMembership
      {...props}
      name="paymentFailed"
      lead={t('mail.paymentFailed.lead')}
      facts={[
        ...unpaidFacts(props),
        ...fact(t('mail.membership.nextTry'), values.nextAttemptAt, date(ctx)),
        ...fact(t('mail.membership.card'), card(values), keepCasing),
      ]}
      advice={t(`mail.paymentFailed.${values.nextAttemptAt === undefined ? 'last' : 'nextAttempt'}`)}
    />
  );
}

export function PaymentActionRequired(props: MailProps<UnpaidValues>) {
  const { t } = props.ctx;
  return (
    <AboutMembership
      {...props}
      name="paymentActionRequired"
      lead={t('mail.paymentActionRequired.lead')}
      facts={unpaidFacts(props)}
      advice={t('mail.paymentActionRequired.act')}
    />
  );
}

interface RefundValues extends AboutValues, CardValues {
  planName?: string;
  amountCents: number;
  currency: string;
  invoiceNumber?: string;
  invoiceUrl?: string;
}

export function RefundMade(props: MailProps<RefundValues>) {
  const { ctx, values } = props;
  const { t } = ctx;
  return (
    <AboutMembership
      {...props}
      name="refundMade"
      lead={t('mail.refundMade.lead')}
      facts={[
        [t('mail.membership.amount'), amount(ctx, values.currency)(values.amountCents)],
        ...fact(t('mail.membership.card'), card(values), keepCasing),
        ...fact(t('mail.membership.plan'), values.planName, keepCasing),
        ...fact(t('mail.membership.invoiceNumber'), values.invoiceNumber, keepCasing),
      ]}
      invoiceUrl={values.invoiceUrl}
    />
  );
}

type CardActValues = AboutValues & Required<CardValues> & { atMs: number };

const cardFacts = ({ ctx, values }: Pick<MailProps<CardActValues>, 'ctx' | 'values'>): Fact[] => [
  ...fact(ctx.t('mail.membership.card'), card(values), keepCasing),
  [ctx.t('mail.when'), formatDate(ctx.lang, values.atMs, 'exact')],
];

/** A changed card notifies the user, like every change that a thief could make. */
export function CardChanged(props: MailProps<CardActValues>) {
  const { t, links } = props.ctx;
  return (
    <AboutMembership
      {...props}
      name="cardChanged"
      lead={t('mail.cardChanged.lead')}
      facts={cardFacts(props)}
      advice={t('mail.cardChanged.notYou')}
      act={{ href: links.forgotPassword, label: t('mail.setPassword') }}
    />
  );
}

export function CardRemoved(props: MailProps<CardActValues>) {
  const { t } = props.ctx;
  return (
    <AboutMembership
      {...props}
      name="cardRemoved"
      lead={t('mail.cardRemoved.lead')}
      facts={cardFacts(props)}
      advice={t('mail.cardRemoved.then')}
    />
  );
}
