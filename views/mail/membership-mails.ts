import { defineMail, type MailLink } from './definition.ts';
import {
  type Announced,
  amount,
  type Charged,
  charge,
  chargedKind,
  chargedMethod,
  failedPaymentAdvice,
  failedPaymentLead,
  type PlanType,
  planWithPeriod,
  planWithSeats,
  text,
  time,
  warning,
  when,
} from './facts.ts';
import { type KeptDays, keptDays, type RefundThen, refundsThen, withdrawnAmounts } from './plan-end-mails.ts';
import { receiptMail } from './receipt-mail.ts';

/** In all of these: times in milliseconds since the epoch, amounts in cents, `currency` as in `usd`. */
interface Membership {
  /** The page of the membership. */
  pageLink: string;
}
interface CardAction extends Membership, Required<Charged> {
  atMs: number;
}
interface UnpaidInvoice extends Membership {
  planName: string;
  amountCents: number;
  currency: string;
  /** Until when the plan stays. */
  keptUntil?: number;
}

const dayMs = 24 * 60 * 60_000;
const atMs = Date.UTC(2026, 10, 21, 18, 53);
const membership: Membership = { pageLink: 'https://login.example.com/settings/membership' };
const visa = { cardType: 'visa', lastFour: '4242' };
const cardAction: CardAction = { ...membership, ...visa, atMs };
const unpaid: UnpaidInvoice = {
  ...membership,
  planName: 'Starter',
  amountCents: 9_900,
  currency: 'usd',
  keptUntil: atMs + 7 * dayMs,
};

const plan = text('mail.membership.plan', 'planName');
const endsAt = time('mail.membership.endsOn', 'endsAt');
const unpaidFacts = [
  plan,
  amount('mail.membership.amount', 'amountCents'),
  time('mail.membership.keptUntil', 'keptUntil'),
] as const;
const cardFacts = [chargedMethod, when] as const;
const isOther = (values: Charged) => chargedKind(values) !== 'card';

const open: MailLink<Membership> = { label: 'mail.membership.open', href: ({ pageLink }) => pageLink };

/** The mails about plan, card and payments. */
export const membershipMails = {
  /** Confirms that a withdrawal has arrived, with its time (Directive 2011/83/EU, article 11a). */
  'withdrawal-received': defineMail<
    Membership &
      KeptDays & {
        planName?: string;
        orderDate: number;
        atMs: number;
        amountCents: number;
        /** Paid from the credit, and credit again; `owedCents`: too small to be charged, and not owed any more. */
        creditCents?: number;
        owedCents?: number;
        currency: string;
      }
  >({
    name: 'withdrawalReceived',
    variant: { name: 'partWithdrawn', applies: ({ keptCents }) => keptCents !== undefined },
    facts: [
      plan,
      time('mail.membership.orderDate', 'orderDate'),
      time('mail.withdrawalReceived.received', 'atMs', 'exact'),
      amount('mail.withdrawalReceived.refund', 'amountCents'),
      ...withdrawnAmounts,
      keptDays,
    ],
    button: open,
    sample: { ...membership, planName: 'Starter', orderDate: atMs - dayMs, atMs, amountCents: 9_900, currency: 'usd' },
  }),
  /** The link that cancels without a sign-in. It names what was asked, and when that arrived (section 312k BGB). */
  'cancel-link': defineMail<Membership & { atMs: number; cancelUrl: string; validUntilMs: number }>({
    name: 'cancelLink',
    facts: [
      { label: 'mail.cancelLink.asked', value: (_values, { t }) => t('mail.cancelLink.kind') },
      time('mail.cancelLink.received', 'atMs', 'exact'),
      time('mail.cancelLink.until', 'validUntilMs', 'exact'),
    ],
    advice: 'mail.cancelLink.notYou',
    button: { label: 'mail.cancelLink.cancel', href: ({ cancelUrl }) => cancelUrl },
    sample: {
      ...membership,
      atMs,
      validUntilMs: atMs + dayMs,
      cancelUrl: `https://login.example.com/cancel-membership/link?token=${'x'.repeat(43)}`,
    },
  }),
  receipt: receiptMail,
  /** Without `nextAttemptAt` there is no automatic attempt. */
  'payment-failed': defineMail<UnpaidInvoice & Charged & { nextAttemptAt?: number; ended?: true }>({
    name: 'paymentFailed',
    facts: [...unpaidFacts, time('mail.membership.nextTry', 'nextAttemptAt'), chargedMethod],
    lead: (values, { t }) => t(failedPaymentLead(values)),
    advice: (values, { t }) => t(failedPaymentAdvice(values)),
    button: open,
    sample: { ...unpaid, ...visa, nextAttemptAt: atMs + 3 * dayMs },
  }),
  /** The bank requires authentication by the user. */
  'payment-action-required': defineMail<UnpaidInvoice>({
    name: 'paymentActionRequired',
    facts: unpaidFacts,
    advice: 'mail.paymentActionRequired.act',
    button: open,
    sample: unpaid,
  }),
  'trial-ends': defineMail<Membership & { days: number; endsAt: number }>({
    name: 'trialEnds',
    lead: ({ days }, { t }) => t('mail.trialEnds.lead', { count: days }),
    facts: [endsAt],
    advice: 'mail.trialEnds.nothing',
    button: { ...open, label: 'mail.membership.choose' },
    sample: { pageLink: 'https://login.example.com/plan-purchase', days: 3, endsAt: atMs + 3 * dayMs },
  }),
  /** `planNow`: the user's present plan; omitted: none. */
  'plan-ended': defineMail<
    Membership & { planName: string; endedAt: number; why: 'cancelled' | 'unpaid' | 'gift'; planNow?: string }
  >({
    name: 'planEnded',
    lead: ({ why }, { t }) => t(`mail.planEnded.lead.${why}`),
    facts: [plan, time('mail.membership.endedOn', 'endedAt'), text('mail.membership.nowOn', 'planNow')],
    advice: 'mail.planEnded.back',
    button: open,
    sample: { ...membership, planName: 'Starter', endedAt: atMs, why: 'unpaid', planNow: 'Free' },
  }),
  /** At the end of the paid plan. `amountCents`: the first charge of the new plan, or its price; 0: free. */
  'plan-changes': defineMail<
    Membership &
      Omit<RefundThen, 'currency'> &
      Announced & {
        fromPlan: string;
        /** Of a plan that is sold by the seat. */
        fromSeats?: number;
        toPlan: string;
        /** As a receipt's, of the new plan. */
        seats?: number;
        toPlanType?: PlanType;
        /** As a receipt's, of the new plan. */
        everyDays?: number;
        changesAt: number;
        amountCents: number;
        /** It is a charge. */
        isCharge?: true;
        currency: string;
      }
  >({
    name: 'planChanges',
    facts: [
      {
        label: 'mail.membership.from',
        value: ({ fromPlan, fromSeats }, { t }) => planWithSeats(t, fromPlan, fromSeats),
      },
      time('mail.membership.changesOn', 'changesAt'),
      {
        label: 'mail.membership.to',
        value: ({ toPlan, toPlanType: type, everyDays, seats }, { t }) =>
          planWithPeriod(t, toPlan, { type, everyDays, seats }),
      },
      charge(({ isCharge }) => `mail.membership.${isCharge ? 'chargeThen' : 'planAmount'}`),
      ...refundsThen,
    ],
    advice: 'mail.planChanges.back',
    button: open,
    sample: {
      ...membership,
      fromPlan: 'Scale',
      toPlan: 'Growth',
      toPlanType: '1',
      changesAt: atMs + 12 * dayMs,
      amountCents: 49_900,
      currency: 'usd',
    },
  }),
  /** A changed card notifies the user, like every change that a thief could make. */
  'card-changed': defineMail<CardAction>({
    ...warning('cardChanged'),
    facts: cardFacts,
    variant: { name: 'methodChanged', applies: isOther },
    sample: cardAction,
  }),
  'card-removed': defineMail<CardAction>({
    name: 'cardRemoved',
    facts: cardFacts,
    advice: (values, { t }) => t(`mail.${isOther(values) ? 'methodRemoved' : 'cardRemoved'}.then`),
    variant: { name: 'methodRemoved', applies: isOther },
    button: open,
    sample: cardAction,
  }),
};
