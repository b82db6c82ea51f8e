import type { texts } from '../../locales/index.ts';
import { formatPlainDate } from '../format.ts';
import { defineMail } from './definition.ts';
import { home, newPassword, origin, text, time, warning, when } from './facts.ts';

/** Times in milliseconds since the epoch. */
interface Timed {
  atMs: number;
}
/** An action in a browser: with the name of its device and its IP address. */
interface Action extends Timed {
  device: string;
  address: string;
}

/** The changes that a user is notified of: each has its text in `mail.securityNotice.changes`. */
export type SecurityChange = keyof (typeof texts)['en']['mail']['securityNotice']['changes'];

const hourMs = 60 * 60_000;
const timed: Timed = { atMs: Date.UTC(2026, 10, 21, 18, 53) };
const action: Action = { ...timed, device: 'Firefox, macOS', address: '203.0.113.7' };
const changedEmail = { ...action, newEmail: 'vera.new@example.net' };
const token = `token=019aa77c-8b50-7e2e-b1f5-0a5d3c1f9e77.${'x'.repeat(43)}`;

const codeMail = (name: 'verifyEmail' | 'passwordReset' | 'signInCode' | 'changeEmail') =>
  defineMail<{ code: string; minutes: number; sentAtMs?: number }>({
    name,
    code: ({ code }) => code,
    facts: [time('mail.codeSent', 'sentAtMs', 'time')],
    advice: ({ minutes }, { t, brand }) =>
      `${t('mail.codeValidity', { count: minutes })} ${t('mail.keepSecret', { brand })}`,
    notes: [{ text: `mail.${name}.notYou`, quiet: true }],
    sample: { code: '493027', minutes: 10, sentAtMs: timed.atMs },
  });

/** An operator's action has no device and address. */
const changedEmailFacts = [text('mail.emailChangeRequested.newAddress', 'newEmail'), when, ...origin] as const;

const endings: readonly SecurityChange[] = [
  'session-ended',
  'sessions-ended',
  'all-sessions-ended',
  'device-forgotten',
];

/** After the end of a session the user signs in again; any other change of an operator asks for nothing. */
const noticeLead = (operator: true | undefined, change: SecurityChange) =>
  operator ? (endings.includes(change) ? 'leadOperator' : 'leadOperatorChange') : 'lead';

/** The mails about the account: its addresses, its credentials and its end. */
export const accountMails = {
  /** Confirms an address at sign-up. */
  'verify-email': codeMail('verifyEmail'),
  /** `provider`: the provider of a user without a password. */
  welcome: defineMail<{ provider?: string }>({
    name: 'welcome',
    lead: ({ provider }, { t }) =>
      provider === undefined ? t('mail.welcome.lead') : t('mail.welcome.leadProvider', { provider }),
    button: home('mail.welcome.open'),
    notes: [{ text: 'mail.welcome.notYou', link: newPassword, quiet: true }],
    sample: {},
  }),
  /** The code for a forgotten password. */
  'password-reset': codeMail('passwordReset'),
  /** The additional code of a sign-in while the limit for all visitors is used up. */
  'sign-in-code': codeMail('signInCode'),
  /** The specification's notice with the action 'password'. */
  'password-changed': defineMail<Timed>({ ...warning('passwordChanged'), facts: [when], sample: timed }),
  /** A sign-up with the address of a user; the page did not reveal that. */
  'account-exists': defineMail<object>({
    name: 'accountExists',
    button: home('mail.accountExists.signIn'),
    notes: [
      { text: 'mail.accountExists.forgotten', link: newPassword },
      { text: 'mail.accountExists.notYou', quiet: true },
    ],
    sample: {},
  }),
  /** A sign-in of an imported user without a password; the page did not reveal that. */
  'first-password': defineMail<object>({
    name: 'firstPassword',
    button: newPassword,
    notes: [{ text: 'mail.firstPassword.notYou', quiet: true }],
    sample: {},
  }),
  /** `hasPassword`: false if the user only signs in with a provider or a passkey. */
  'new-device': defineMail<Action & { hasPassword?: boolean }>({
    ...warning('newDevice'),
    facts: [when, ...origin],
    advice: ({ hasPassword }, { t }) => t(`mail.newDevice.${hasPassword === false ? 'notYouNoPassword' : 'notYou'}`),
    sample: action,
  }),
  'recovery-code-used': defineMail<Action & { left: number }>({
    ...warning('recoveryCodeUsed'),
    facts: [when, ...origin, { label: 'mail.recoveryCodeUsed.left', value: ({ left }) => String(left) }],
    sample: { ...action, left: 9 },
  }),
  /** The first step of the sign-in was right, the second factor wrong too often. */
  'second-factor-guessed': defineMail<Action>({
    ...warning('secondFactorGuessed'),
    facts: [when, ...origin],
    sample: action,
  }),
  /** The code that proves a new address. */
  'change-email': codeMail('changeEmail'),
  /** To the address that is about to be replaced. */
  'email-change-asked': defineMail<Action & { newEmail: string }>({
    ...warning('emailChangeRequested'),
    facts: changedEmailFacts,
    sample: changedEmail,
  }),
  /** To the replaced address, with the link to undo it. */
  'email-changed': defineMail<
    Timed & Partial<Action> & { newEmail: string; undoUrl: string; undoUntilMs: number; operator?: true }
  >({
    name: 'emailChanged',
    lead: ({ operator }, { t }) => t(`mail.emailChanged.${operator ? 'leadOperator' : 'lead'}`),
    facts: changedEmailFacts,
    advice: ({ undoUntilMs }, { t, lang }) =>
      t('mail.emailChanged.notYou', { until: formatPlainDate(lang, undoUntilMs, 'exact') }),
    button: { label: 'mail.emailChanged.undo', href: ({ undoUrl }) => undoUrl },
    sample: {
      ...changedEmail,
      undoUrl: `https://login.example.com/undo-email-change?${token}`,
      undoUntilMs: timed.atMs + 72 * hourMs,
    },
  }),
  /** To the address that an account had temporarily, without anything about its owner. */
  'email-undone': defineMail<Timed>({
    name: 'emailUndone',
    facts: [when],
    advice: 'mail.emailUndone.notYou',
    sample: timed,
  }),
  /**
   * Every change in the settings, or the same change by an operator, which has no device and address. `detail`: the name
   * of the changed item, or the labels of the changed fields.
   */
  'security-notice': defineMail<Timed & Partial<Action> & { change: SecurityChange; detail?: string; operator?: true }>(
    {
      ...warning('securityNotice'),
      lead: ({ operator, change }, { t, brand }) => t(`mail.securityNotice.${noticeLead(operator, change)}`, { brand }),
      advice: ({ operator }, { t, brand }) => (operator ? undefined : t('mail.securityNotice.notYou', { brand })),
      title: ({ change }, { t }) => t(`mail.securityNotice.changes.${change}`),
      facts: [when, text('mail.securityNotice.detail', 'detail'), ...origin],
      sample: { ...action, change: 'passkey-added', detail: 'MacBook' },
    },
  ),
  /** The user has requested deletion. */
  'deletion-asked': defineMail<Timed & Partial<Action> & { dueAtMs: number; operator?: true }>({
    name: 'deletionRequested',
    lead: ({ operator }, { t }) => t(`mail.deletionRequested.${operator ? 'leadOperator' : 'lead'}`),
    facts: [time('mail.by', 'dueAtMs', 'exact'), ...origin, when],
    advice: 'mail.deletionRequested.stay',
    button: home('mail.deletionRequested.signIn'),
    sample: { ...action, dueAtMs: timed.atMs + 14 * 24 * hourMs },
  }),
  /** A sign-in has cancelled the deletion. */
  'deletion-cancelled': defineMail<Action>({
    ...warning('deletionCancelled'),
    facts: [...origin, when],
    sample: action,
  }),
  /** An operator was asked to remove the second factor: with the link to cancel. */
  'factor-reset-asked': defineMail<Timed & { dueAtMs: number; cancelUrl: string }>({
    name: 'factorResetRequested',
    facts: [time('mail.resetBy', 'dueAtMs', 'exact'), when],
    advice: 'mail.factorResetRequested.notYou',
    button: { label: 'mail.factorResetRequested.stop', href: ({ cancelUrl }) => cancelUrl },
    sample: {
      ...timed,
      dueAtMs: timed.atMs + 72 * hourMs,
      cancelUrl: `https://login.example.com/cancel-factor-reset?${token}`,
    },
  }),
  'factor-reset-cancelled': defineMail<Timed>({ ...warning('factorResetCancelled'), facts: [when], sample: timed }),
  'factor-reset-done': defineMail<Timed>({ ...warning('factorResetDone'), facts: [when], sample: timed }),
};
