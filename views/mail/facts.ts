/** The facts and links that several mails share. */
import type { T, TextKey } from '../../locales/index.ts';
import { cardName, methodKind } from '../billing/card-name.ts';
import { type DateStyle, formatAmount, formatPlainDate } from '../format.ts';
import type { MailFact, MailLink, MailsWith } from './definition.ts';

export const text = <Key extends string>(label: TextKey, key: Key): MailFact<{ [Name in Key]?: string }> => ({
  label,
  value: (values) => values[key],
});

export const time = <Key extends string>(
  label: TextKey,
  key: Key,
  style: DateStyle = 'date',
): MailFact<{ [Name in Key]?: number }> => ({
  label,
  value(values, { lang }) {
    const atMs: number | undefined = values[key];
    return atMs === undefined ? undefined : formatPlainDate(lang, atMs, style);
  },
});

type Amount<Key extends string> = { [Name in Key]: number } & { currency: string };

export const amount = <Key extends string>(
  label: TextKey,
  key: Key,
  as?: 'amount' | 'total',
): MailFact<Amount<Key>> => ({
  label,
  value: (values, { lang }) => formatAmount(lang, values[key], { currency: values.currency }),
  as,
});

/** The amount of a coming charge. */
export interface Announced {
  /** The words of the pages behind that amount, in the language of the mail; omitted: nothing. */
  more?: string;
}

interface Coming extends Announced {
  amountCents?: number;
  currency?: string;
  isCharge?: true;
}

/** As the pages say it: "$0.00. Another $12.00 is paid from your credit." */
export function charge(label: MailFact<Coming>['label']): MailFact<Coming> {
  return {
    label,
    value({ amountCents: cents, currency, more }, { lang }) {
      if (cents === undefined || currency === undefined) return undefined;
      const amountText = formatAmount(lang, cents, { currency });
      return more === undefined ? amountText : `${amountText}. ${more}`;
    },
  };
}

/** An amount that is in the total. */
export function part<Key extends string>(label: TextKey, key: Key): MailFact<Amount<Key>> {
  const whole = amount(label, key, 'amount');
  const value: typeof whole.value = (values, context) => (values[key] > 0 ? whole.value(values, context) : undefined);
  return { ...whole, value };
}

/** An amount that reduces the total. */
export function deduction<Key extends string>(label: TextKey, key: Key): MailFact<Amount<Key>> {
  const whole = amount(label, key, 'amount');
  const value: typeof whole.value = (values, context) =>
    values[key] > 0 ? `−${whole.value(values, context)}` : undefined;
  return { ...whole, value };
}

/** The card, or another payment method in its place; omitted: none was charged. */
export interface Charged {
  /** Stripe's name of the card brand (`visa`), or `SavedCard`'s of another method; with the last four digits. */
  cardType?: string;
  lastFour?: string;
}

export const chargedKind = ({ cardType }: Charged) =>
  cardType === undefined ? 'card' : methodKind({ brand: cardType });

/** The card that was charged. */
export const card = (label: TextKey | ((values: Charged) => TextKey)): MailFact<Charged> => ({
  label,
  value: ({ cardType, lastFour }, { t }) =>
    cardType === undefined || lastFour === undefined ? undefined : cardName(t, { brand: cardType, lastFour }),
});

export const when = time('mail.when', 'atMs', 'exact');
export const origin = [text('mail.device', 'device'), text('mail.address', 'address')] as const;

export const home = (label: TextKey): MailLink<unknown> => ({ label, href: (_, { links }) => links.home });
export const newPassword: MailLink<unknown> = {
  label: 'mail.setPassword',
  href: (_, { links }) => links.forgotPassword,
};

/** A mail about an event that the user may not have caused: its advice, and the link to a new password. */
export const warning = <Name extends MailsWith<'notYou'>>(name: Name) => ({
  name,
  advice: `mail.${name}.notYou` as const,
  button: newPassword,
});

/** The same under its kind. */
export const chargedMethod = card((values) => `mail.membership.${chargedKind(values) === 'card' ? 'card' : 'method'}`);

const failedTexts = {
  card: { lead: 'mail.paymentFailed.lead', next: 'mail.paymentFailed.nextAttempt', last: 'mail.paymentFailed.last' },
  account: {
    lead: 'mail.paymentFailed.accountLead',
    next: 'mail.paymentFailed.accountNextAttempt',
    last: 'mail.paymentFailed.otherLast',
  },
  method: {
    lead: 'mail.paymentFailed.methodLead',
    next: 'mail.paymentFailed.methodNextAttempt',
    last: 'mail.paymentFailed.otherLast',
  },
} as const;

/** Also the text of the notification. */
export function failedPaymentLead({ ended, ...values }: Charged & { ended?: true }): TextKey {
  return ended ? 'mail.paymentFailed.debitLead' : failedTexts[chargedKind(values)].lead;
}

export function failedPaymentAdvice({
  nextAttemptAt,
  ended,
  ...values
}: Charged & { nextAttemptAt?: number; ended?: true }): TextKey {
  if (ended) return 'mail.paymentFailed.debitAdvice';
  return failedTexts[chargedKind(values)][nextAttemptAt === undefined ? 'last' : 'next'];
}

/** '1' monthly, '2' yearly (the specification's planType). */
export type PlanType = '1' | '2';

/** 'Starter, 5 seats' */
export const planWithSeats = (t: T, plan: string, seats: number | undefined): string =>
  seats === undefined ? plan : t('mail.membership.seats', { plan, count: seats });

/** @param type omitted: a plan that does not end */
export function planWithPeriod(
  t: T,
  name: string,
  { type, everyDays: days, seats }: { type?: PlanType; everyDays?: number; seats?: number },
): string {
  const plan = planWithSeats(t, name, seats);
  if (days !== undefined) return t('mail.membership.everyDays', { plan, days });
  return type === undefined ? plan : t(`mail.membership.${type === '1' ? 'monthly' : 'yearly'}`, { plan });
}
