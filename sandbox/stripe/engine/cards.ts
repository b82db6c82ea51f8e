import { createHash } from 'node:crypto';
import { invalid, StandInError, unknownToStandIn } from './types.ts';

/** A bank's reason for a refusal, in Stripe's codes and texts. */
export interface Decline {
  code: 'authentication_required' | 'card_declined' | 'expired_card' | 'incorrect_cvc' | 'processing_error';
  declineCode?: string;
  message: string;
}
export type Answer = 'approve' | 'authenticate' | Decline;

interface TestCard {
  brand: 'visa' | 'mastercard' | 'amex';
  /** The bank's answer when the card is saved, and to a payment with it. */
  save: Answer;
  /** A card that authenticates once, when it is saved, also authenticates at a payment if it was never saved. */
  charge: Answer;
  /** Authentication is required at every payment, not only before the first one. */
  alwaysAuthenticates?: boolean;
  country?: string;
  /** An account that is debited: its bank answers after these seconds. */
  debit?: { seconds: number; disputed?: boolean };
}

const declined = (declineCode: string, message: string): Decline => ({ code: 'card_declined', declineCode, message });
const generic = declined('generic_decline', 'Your card was declined.');
const expired: Decline = { code: 'expired_card', message: 'Your card has expired.' };
const insufficient = declined('insufficient_funds', 'Your card has insufficient funds.');

/** The answer to an attempt without the customer (https://docs.stripe.com/payments/save-and-reuse#charge-saved-payment-method). */
export const authenticationRequired: Decline = {
  code: 'authentication_required',
  declineCode: 'authentication_required',
  message: 'Your card was declined. This transaction requires authentication.',
};

const refused = (brand: TestCard['brand'], answer: Decline): TestCard => ({ brand, save: answer, charge: answer });
const approved = (brand: TestCard['brand'], country = 'US'): TestCard => ({
  brand,
  save: 'approve',
  charge: 'approve',
  country,
});

const debitFailed = declined('generic_decline', 'The bank has refused the debit.');
const soon = 60;
const later = 180;
const account = (country: string, charge: Answer, debit: NonNullable<TestCard['debit']>): TestCard => ({
  brand: 'visa',
  save: 'approve',
  charge,
  country,
  debit,
});

/** Stripe's test accounts (https://docs.stripe.com/payments/sepa-debit/set-up-payment#test-your-integration). */
const accounts: Record<string, TestCard> = {
  DE89370400440532013000: account('DE', 'approve', { seconds: soon }),
  DE08370400440532013003: account('DE', 'approve', { seconds: later }),
  DE62370400440532013001: account('DE', debitFailed, { seconds: soon }),
  DE78370400440532013004: account('DE', debitFailed, { seconds: later }),
  DE35370400440532013002: account('DE', 'approve', { seconds: soon, disputed: true }),
  AT611904300234573201: account('AT', 'approve', { seconds: soon }),
  AT321904300235473204: account('AT', 'approve', { seconds: later }),
  AT861904300235473202: account('AT', debitFailed, { seconds: soon }),
  AT051904300235473205: account('AT', debitFailed, { seconds: later }),
  AT591904300235473203: account('AT', 'approve', { seconds: soon, disputed: true }),
};

/** @throws StandInError in Stripe's words for other texts */
export function checkAccount(iban: string) {
  if (accounts[iban]) return;
  throw invalid('The IBAN you provided is invalid. The stand-in knows Stripe’s test IBANs alone.', {
    code: 'invalid_bank_account_iban',
    param: 'sepa_debit[iban]',
  });
}

/** The supported ones of Stripe's test cards (https://docs.stripe.com/testing). */
const cards: Record<string, TestCard> = {
  '4242424242424242': approved('visa'),
  '4000056655665556': approved('visa'),
  '4000002760000016': approved('visa', 'DE'),
  '4000002500000003': approved('visa', 'FR'),
  '5555555555554444': approved('mastercard'),
  '378282246310005': approved('amex'),
  '4000000000000002': refused('visa', generic),
  '4000000000009995': refused('visa', insufficient),
  '4000000000009987': refused('visa', declined('lost_card', 'Your card was declined.')),
  '4000000000009979': refused('visa', declined('stolen_card', 'Your card was declined.')),
  '4000000000000069': refused('visa', expired),
  '4000000000000127': refused('visa', {
    code: 'incorrect_cvc',
    message: "Your card's security code is incorrect.",
  }),
  '4000000000000119': refused('visa', {
    code: 'processing_error',
    message: 'An error occurred while processing your card. Try again in a little bit.',
  }),
  '4000000000000341': { brand: 'visa', save: 'approve', charge: generic },
  '4000002500003155': { brand: 'visa', save: 'authenticate', charge: 'approve' },
  '4000002760003184': { brand: 'visa', save: 'authenticate', charge: 'approve', alwaysAuthenticates: true },
  '4000008260003178': { brand: 'visa', save: 'authenticate', charge: insufficient },
};

/** Test tokens and payment methods by the last part of their names: tok_visa, pm_card_visa. */
const namedCards: Record<string, string> = {
  visa: '4242424242424242',
  mastercard: '5555555555554444',
  amex: '378282246310005',
  chargeDeclined: '4000000000000002',
  visa_chargeDeclined: '4000000000000002',
  chargeCustomerFail: '4000000000000341',
  authenticationRequired: '4000002760003184',
  authenticationRequiredOnSetup: '4000002500003155',
  authenticationRequiredChargeDeclinedInsufficientFunds: '4000008260003178',
};

const cardError = (message: string, code: string, param: string) =>
  new StandInError(message, { status: 402, type: 'card_error', code, param });

function passesLuhn(number: string): boolean {
  const sum = [...number].reverse().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

export function testCard(number: string): TestCard {
  const card = cards[number] ?? accounts[number];
  if (!card) throw unknownToStandIn('a card with that number: use one of Stripe’s test cards', 'number');
  return card;
}

/** The checks of the form, before those of a bank. @throws StandInError with the codes of Stripe's card errors */
export function checkCard(card: { number: string; expMonth: number; expYear: number; cvc?: string }, nowMs: number) {
  if (!/^\d{12,19}$/.test(card.number) || !passesLuhn(card.number)) {
    throw cardError('Your card number is incorrect.', 'incorrect_number', 'number');
  }
  if (!Number.isInteger(card.expMonth) || card.expMonth < 1 || card.expMonth > 12) {
    throw cardError("Your card's expiration month is invalid.", 'invalid_expiry_month', 'exp_month');
  }
  const today = new Date(nowMs);
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth() + 1];
  if (!Number.isInteger(card.expYear) || card.expYear < year || card.expYear > year + 50) {
    throw cardError("Your card's expiration year is invalid.", 'invalid_expiry_year', 'exp_year');
  }
  if (card.expYear === year && card.expMonth < month) {
    throw cardError("Your card's expiration month is invalid.", 'invalid_expiry_month', 'exp_month');
  }
  const { brand } = testCard(card.number);
  const digits = brand === 'amex' ? /^\d{3,4}$/ : /^\d{3}$/;
  if (card.cvc !== undefined && !digits.test(card.cvc)) {
    throw cardError("Your card's security code is invalid.", 'invalid_cvc', 'cvc');
  }
}

/** The bank's answer to a payment; a card is valid to the end of its month. */
export function chargeAnswer(
  number: string,
  card: { exp_month: number; exp_year: number } | undefined,
  nowMs: number,
): Answer {
  return card && nowMs >= Date.UTC(card.exp_year, card.exp_month) ? expired : testCard(number).charge;
}

/** Equal for every saving of the same number, like Stripe's within one account. */
export const fingerprint = (number: string) =>
  createHash('sha256').update(`stand-in ${number}`).digest('base64url').replaceAll(/[-_]/g, 'x').slice(0, 16);

/** The number of tok_visa, pm_card_visa and the like. */
export function numberOfName(id: string): string | undefined {
  const name = /^(?:tok|pm_card)_(.+)$/.exec(id)?.[1];
  return name === undefined ? undefined : namedCards[name];
}
