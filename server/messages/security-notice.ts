import type { Transaction } from 'kysely';
import type { T, TextKey } from '../../locales/index.ts';
import type { SecurityChange } from '../../views/mail/index.ts';
import type { AuditEntry } from '../audit/index.ts';
import { type Language, plainAddress, resolveLanguage, translator } from '../http/index.ts';
import { type ClientId, keysIn, readBrowserName, type UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import type { Outbox } from './outbox.ts';

/** The origin of an action, for the mail about it. */
export interface Origin {
  ip: string;
  userAgent: string | undefined;
  /** The language of the browser; the user's own choice has precedence. */
  lang: Language;
}

/** The origin of a change that an operator makes by command: it has no browser. */
export const byOperator = { operator: true } as const;

/** A user as a mail addresses them. */
interface Addressee {
  email: string;
  givenName: string;
  locale: string | null;
}

/** The browser and address of an action, as text of a mail. */
export const whence = (lang: Language, { userAgent, ip }: Pick<Origin, 'userAgent' | 'ip'>) => ({
  device: deviceName(translator(lang), userAgent),
  address: plainAddress(ip),
});

/**
 * The common part of mails about an action: recipient, language, time and origin.
 * @param atMs milliseconds since the epoch
 */
export function mailAbout(user: Addressee, from: Origin, atMs: number) {
  const lang = resolveLanguage(from.lang, user.locale ?? undefined);
  return {
    mail: { channel: 'mail', to: user.email, lang },
    values: { givenName: user.givenName, atMs, ...whence(lang, from) },
  } as const;
}

/** Common parts of the mails about an operator's action, in the user's language. */
export const mailByOperator = (user: Addressee, atMs: number) =>
  ({
    mail: { channel: 'mail', to: user.email, lang: resolveLanguage('en', user.locale ?? undefined) },
    values: { givenName: user.givenName, atMs, ...byOperator },
  }) as const;

/** Enough for users to recognize their own words. */
const maxDetailCharacters = 80;

interface NoticeOfChange {
  /** The client app that the change is about. */
  clientId?: ClientId | undefined;
  /** With the address to notify: if the address itself changes, the former one. */
  user: Addressee & { id: UserId };
  change: SecurityChange;
  from: Origin | typeof byOperator;
  /** The changed item, for example the name of a passkey. */
  detail?: string | undefined;
  /** Instead of `detail`: the labels of the changed fields, without their values. */
  labels?: readonly TextKey[] | undefined;
}

function toDetail(lang: Language, { detail, labels }: NoticeOfChange): string | undefined {
  const t = translator(lang);
  if (labels !== undefined) return labels.map((label) => t(label)).join(', ');
  return detail === undefined ? undefined : Array.from(detail).slice(0, maxDetailCharacters).join('');
}

type ChangeEvent = Extract<AuditEntry, { details: { change: string } }>['type'];

/** The events of the audit trail. */
const eventByChange: Readonly<Record<SecurityChange, ChangeEvent>> = {
  name: 'profile.changed',
  profile: 'profile.changed',
  email: 'contact.changed',
  'email-undone': 'contact.changed',
  phone: 'contact.changed',
  'phone-removed': 'contact.changed',
  'mfa-sms': 'factor.changed',
  'mfa-totp': 'factor.changed',
  'mfa-off': 'factor.changed',
  'totp-replaced': 'factor.changed',
  'recovery-codes-new': 'factor.changed',
  'passkey-added': 'factor.changed',
  'passkey-removed': 'factor.changed',
  'provider-linked': 'provider.changed',
  'provider-removed': 'provider.changed',
  'app-removed': 'app.removed',
  'device-forgotten': 'device.changed',
  'session-ended': 'device.changed',
  'sessions-ended': 'device.changed',
  'all-sessions-ended': 'device.changed',
};

export const securityChanges = keysIn(eventByChange);

/** Records a change in the audit trail and notifies the user by mail, in the transaction of the change. Call `outbox.wake` after the commit. */
export async function notifySecurityChange(
  trx: Transaction<Schema>,
  { outbox, now }: { outbox: Outbox; now: () => number },
  notice: NoticeOfChange,
): Promise<void> {
  const { user, change, from, clientId } = notice;
  const atMs = now();
  await outbox.record(trx, { type: eventByChange[change], details: { change }, subject: user.id, clientId, atMs });
  const { mail, values } = 'operator' in from ? mailByOperator(user, atMs) : mailAbout(user, from, atMs);
  const detail = toDetail(mail.lang, notice);
  await outbox.add(trx, {
    ...mail,
    template: 'security-notice',
    values: { ...values, change, ...(detail !== undefined && { detail }) },
  });
}

/** A readable name of a browser: `Chrome on Windows`. */
export function deviceName(t: T, userAgent: string | undefined): string {
  const { browser, system } = readBrowserName(userAgent);
  if (browser !== undefined && system !== undefined) return t('mail.newDevice.deviceName', { browser, system });
  return browser ?? system ?? t('mail.newDevice.unknownDevice');
}
