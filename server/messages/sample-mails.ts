import type { Language } from '../../locales/index.ts';
import { dayMs } from '../shared/index.ts';
import type { Mail, MailTemplate, MailValues } from './message.ts';

const atMs = Date.UTC(2026, 10, 21, 18, 53);
const givenName = 'Vera';
const code = '493027';
const minutes = 10;
const where = { device: 'Firefox, macOS', address: '203.0.113.7' };
const pageLink = 'https://login.example.com/settings/membership';
const card = { cardType: 'visa', lastFour: '4242' };
const invoice = { invoiceNumber: 'FOYER-0007', invoiceUrl: 'https://invoice.stripe.com/i/acct_1/live_7?s=ap' };
const unpaid = { givenName, planName: 'Starter', amountCents: 9_900, currency: 'usd', keptUntil: atMs + 7 * dayMs };

const samples: MailValues = {
  'verify-email': { givenName, code, minutes },
  welcome: { givenName },
  'password-reset': { givenName, code, minutes },
  'sign-in-code': { givenName, code, minutes },
  'password-changed': { givenName, atMs },
  'account-exists': { givenName },
  'first-password': { givenName },
  'new-device': { givenName, atMs, device: 'Firefox, macOS', address: '203.0.113.7' },
  'recovery-code-used': { givenName, atMs, left: 9, device: 'Firefox, macOS', address: '203.0.113.7' },
  'second-factor-guessed': { givenName, atMs, device: 'Firefox, macOS', address: '203.0.113.7' },
  'change-email': { givenName, code, minutes },
  'email-change-asked': { givenName, atMs, newEmail: 'vera.new@example.net', ...where },
  'email-changed': {
    givenName,
    atMs,
    newEmail: 'vera.new@example.net',
    ...where,
    undoUrl: `https://login.example.com/undo-email-change?token=019aa77c-8b50-7e2e-b1f5-0a5d3c1f9e77.${'x'.repeat(43)}`,
    undoUntilMs: atMs + 72 * 60 * 60_000,
  },
  'email-undone': { givenName, atMs },
  'security-notice': {
    givenName,
    atMs,
    device: 'Firefox, macOS',
    address: '203.0.113.7',
    change: 'passkey-added',
    detail: 'MacBook',
  },
  'deletion-asked': { givenName, atMs, dueAtMs: atMs + 14 * 24 * 60 * 60_000, ...where },
  'deletion-cancelled': { givenName, atMs, ...where },
  'factor-reset-asked': {
    givenName,
    atMs,
    dueAtMs: atMs + 72 * 60 * 60_000,
    cancelUrl: `https://login.example.com/cancel-factor-reset?token=019aa77c-8b50-7e2e-b1f5-0a5d3c1f9e77.${'x'.repeat(43)}`,
  },
  'factor-reset-cancelled': { givenName, atMs },
  'factor-reset-done': { givenName, atMs },
  receipt: {
    givenName,
    pageLink,
    ...card,
    ...invoice,
    currency: 'usd',
    email: 'vera@example.com',
    fullName: 'Vera Adler',
    zipcode: '10117',
    rewards: '5',
    planName: 'Starter',
    planType: '2',
    planAmount: 90_000,
    discount: 9_000,
    creditUsed: 1_250,
    totalAmount: 79_750,
    orderDate: atMs,
    renewDate: atMs + 365 * dayMs,
  },
  'payment-failed': { ...unpaid, pageLink, ...card, nextAttemptAt: atMs + 3 * dayMs },
  'payment-action-required': { ...unpaid, pageLink },
  'trial-ends': { givenName, pageLink: 'https://login.example.com/plan-purchase', days: 3, endsAt: atMs + 3 * dayMs },
  'plan-cancelled': { givenName, pageLink, planName: 'Starter', endsAt: atMs + 12 * dayMs },
  'plan-ended': { givenName, pageLink, planName: 'Starter', endedAt: atMs, why: 'unpaid', planNow: 'Free' },
  'plan-changes': {
    givenName,
    pageLink,
    fromPlan: 'Scale',
    toPlan: 'Growth',
    toPlanType: '1',
    changesAt: atMs + 12 * dayMs,
    amountCents: 49_900,
    currency: 'usd',
  },
  'refund-made': { givenName, pageLink, ...card, ...invoice, planName: 'Starter', amountCents: 4_950, currency: 'usd' },
  'card-changed': { givenName, pageLink, ...card, atMs },
  'card-removed': { givenName, pageLink, ...card, atMs },
};

/** A mail with sample values. */
export function sampleMail<Name extends MailTemplate>(template: Name, lang: Language): Mail<Name> {
  return { channel: 'mail', to: 'vera@example.com', template, lang, values: samples[template] } as Mail<Name>;
}
