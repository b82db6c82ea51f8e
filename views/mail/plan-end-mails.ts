import { formatAmount } from '../format.ts';
import { defineMail, type MailFact, type MailLink } from './definition.ts';
import { type Announced, charge, type PlanType, planWithPeriod, planWithSeats, text, time } from './facts.ts';

/** Times in milliseconds since the epoch, amounts in cents, `currency` as in `usd`. */
interface Membership {
  /** The page of the membership. */
  pageLink: string;
  planName: string;
}

/** Given back at the end of a plan that ends before its paid period does. */
export interface RefundThen {
  refundCents?: number;
  /** The part that becomes credit again. */
  creditCents?: number;
  currency?: string;
}

const dayMs = 24 * 60 * 60_000;
const atMs = Date.UTC(2026, 10, 21, 18, 53);
const membership: Membership = {
  pageLink: 'https://login.example.com/settings/membership',
  planName: 'Starter',
};

const plan = text('mail.membership.plan', 'planName');

/** The charge at the end of a pause, if it is known. */
interface ChargeThen extends Announced {
  amountCents?: number;
  currency?: string;
}

const sampleCharge = { amountCents: 9_900, currency: 'usd' } satisfies ChargeThen;
const pauseEnd: readonly MailFact<ChargeThen & { resumesAt: number }>[] = [
  time('mail.membership.resumesOn', 'resumesAt'),
  charge('mail.membership.chargeThen'),
];
const open: MailLink<Membership> = { label: 'mail.membership.open', href: ({ pageLink }) => pageLink };
const cancelPage: MailLink<Membership> = {
  label: 'mail.renewalNotice.cancel',
  href: ({ pageLink }) => `${pageLink}/cancel`,
};

/** An amount that may be absent. */
const refundAmount = (
  label: `mail.membership.${'refundThen' | 'creditThen'}` | `mail.withdrawalReceived.${'credit' | 'owed'}`,
  key: 'refundCents' | 'creditCents' | 'owedCents',
): MailFact<RefundThen & { owedCents?: number }> => ({
  label,
  value({ [key]: cents, currency }, { lang }) {
    return !cents || currency === undefined ? undefined : formatAmount(lang, cents, { currency });
  },
});

/** The amounts of a withdrawal that go to no card. */
export const withdrawnAmounts = [
  refundAmount('mail.withdrawalReceived.credit', 'creditCents'),
  refundAmount('mail.withdrawalReceived.owed', 'owedCents'),
];

/** Not given back after a withdrawal: the share of the days until it. */
export interface KeptDays {
  keptCents?: number;
  usedDays?: number;
  periodDays?: number;
}

/** Its amount, with the days. */
export const keptDays: MailFact<KeptDays & { currency: string }> = {
  label: 'mail.partWithdrawn.kept',
  value({ keptCents: cents, usedDays: used, periodDays: count, currency }, { lang, t }) {
    if (cents === undefined || used === undefined || count === undefined) return undefined;
    return t('mail.partWithdrawn.keptFor', { amount: formatAmount(lang, cents, { currency }), used, count });
  },
};

/** The amounts of an end on a month's notice. */
export const refundsThen: readonly MailFact<RefundThen>[] = [
  refundAmount('mail.membership.refundThen', 'refundCents'),
  refundAmount('mail.membership.creditThen', 'creditCents'),
];

const isOnNotice = ({ refundCents }: RefundThen): boolean => refundCents !== undefined;

/** The first charge of a plan that begins with free days. */
interface FirstCharge extends Membership, Announced {
  planType: PlanType;
  /** As a receipt's. */
  everyDays?: number;
  amountCents: number;
  currency: string;
  chargedAt: number;
}

const firstCharge: readonly MailFact<FirstCharge>[] = [
  {
    label: 'mail.membership.plan',
    value: ({ planName, planType: type, everyDays }, { t }) => planWithPeriod(t, planName, { type, everyDays }),
  },
  charge('mail.membership.amount'),
  time('mail.planTrialBegan.chargedOn', 'chargedAt'),
];

/** A mail that announces it. @param sampleDays until the charge of its sample */
const aboutFirstCharge = (name: 'planTrialBegan' | 'planTrialEnds', sampleDays: number) =>
  defineMail<FirstCharge>({
    name,
    facts: firstCharge,
    advice: `mail.${name}.cancel`,
    button: open,
    notes: [{ link: cancelPage }],
    sample: { ...membership, planType: '1', ...sampleCharge, chargedAt: atMs + sampleDays * dayMs },
  });

/** The mails about a plan that is going to end or to renew. */
export const planEndMails = {
  'plan-cancelled': defineMail<Membership & RefundThen & { endsAt: number }>({
    name: 'planCancelled',
    facts: [plan, time('mail.membership.endsOn', 'endsAt'), ...refundsThen],
    advice: (values, { t }) => t(isOnNotice(values) ? 'mail.planEndsOnNotice.back' : 'mail.planCancelled.back'),
    variant: { name: 'planEndsOnNotice', applies: isOnNotice },
    button: open,
    sample: { ...membership, endsAt: atMs + 12 * dayMs },
  }),
  /** A pause is scheduled. */
  'plan-pauses': defineMail<Membership & ChargeThen & { pausesAt: number; resumesAt: number }>({
    name: 'planPauses',
    facts: [plan, time('mail.membership.pausesOn', 'pausesAt'), ...pauseEnd],
    advice: (_values, { t }) => t('mail.planPauses.back'),
    button: open,
    sample: { ...membership, ...sampleCharge, pausesAt: atMs + 12 * dayMs, resumesAt: atMs + 42 * dayMs },
  }),
  /** It has begun. */
  'plan-paused': defineMail<Membership & ChargeThen & { resumesAt: number }>({
    name: 'planPaused',
    facts: [plan, ...pauseEnd],
    advice: (_values, { t }) => t('mail.planPaused.back'),
    button: open,
    sample: { ...membership, ...sampleCharge, resumesAt: atMs + 42 * dayMs },
  }),
  /** A pause that waited for Stripe, until the plan had renewed or changed. */
  'plan-not-paused': defineMail<Membership>({
    name: 'planNotPaused',
    facts: [plan],
    advice: (_values, { t }) => t('mail.planNotPaused.again'),
    button: open,
    sample: membership,
  }),
  /** A gift code gives the plan until then. */
  'gift-redeemed': defineMail<Membership & { endsAt: number }>({
    name: 'giftRedeemed',
    facts: [plan, time('mail.membership.endsOn', 'endsAt')],
    advice: (_values, { t }) => t('mail.giftRedeemed.then'),
    button: open,
    sample: { ...membership, endsAt: atMs + 365 * dayMs },
  }),
  /** Some days before that. */
  'gift-ends': defineMail<Membership & { endsAt: number }>({
    name: 'giftEnds',
    facts: [plan, time('mail.membership.endsOn', 'endsAt')],
    advice: (_values, { t }) => t('mail.giftEnds.then'),
    button: open,
    sample: { ...membership, endsAt: atMs + 7 * dayMs },
  }),
  /** A resumption that waited for Stripe, and whose next charge is above the announced one by now. */
  'plan-not-resumed': defineMail<Membership & Announced & { amountCents: number; currency: string; endsAt: number }>({
    name: 'planNotResumed',
    facts: [plan, charge('mail.membership.nextCharge'), time('mail.membership.endsOn', 'endsAt')],
    advice: (_values, { t }) => t('mail.planNotResumed.again'),
    button: open,
    sample: { ...membership, amountCents: 9_900, currency: 'usd', endsAt: atMs + 12 * dayMs },
  }),
  /** Some days before a yearly plan renews. `endsOnNotice`: the next year ends on a month's notice, with a refund. */
  'renewal-notice': defineMail<
    Membership &
      Announced & { seats?: number; amountCents: number; currency: string; renewsAt: number; endsOnNotice?: true }
  >({
    name: 'renewalNotice',
    facts: [
      { label: 'mail.membership.plan', value: ({ planName, seats }, { t }) => planWithSeats(t, planName, seats) },
      charge('mail.membership.amount'),
      time('mail.membership.renewsOn', 'renewsAt'),
    ],
    advice: ({ endsOnNotice }, { t }) =>
      t(endsOnNotice ? 'mail.renewalNotice.noticeAdvice' : 'mail.renewalNotice.cancelAdvice'),
    button: open,
    notes: [{ link: cancelPage }],
    sample: { ...membership, amountCents: 90_000, currency: 'usd', renewsAt: atMs + 30 * dayMs },
  }),
  /** A paid plan has begun with free days. */
  'plan-trial-began': aboutFirstCharge('planTrialBegan', 14),
  /** Some days before they are over. */
  'plan-trial-ends': aboutFirstCharge('planTrialEnds', 7),
};
