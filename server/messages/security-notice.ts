import Bowser from 'bowser';
import type { Transaction } from 'kysely';
import type { T, TextKey } from '../../locales/index.ts';
import type { SecurityChange } from '../../views/mail/index.ts';
import { type Language, plainAddress, resolveLanguage, translator } from '../http/index.ts';
import type { Schema } from '../store/index.ts';
import type { Outbox } from './outbox.ts';

/** The origin of an action, for the mail about it. */
export interface Origin {
  ip: string;
  userAgent: string | undefined;
  /** The language of the browser; the user's own choice has precedence. */
  lang: Language;
}

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

/** Enough for users to recognize their own words. */
const maxDetailCharacters = 80;

interface NoticeOfChange {
  /** With the address to notify: if the address itself changes, the former one. */
  user: Addressee;
  change: SecurityChange;
  from: Origin;
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

/** Notifies a user by mail of a change, in the transaction of the change. Call `outbox.wake` after the commit. */
export async function notifySecurityChange(
  trx: Transaction<Schema>,
  { outbox, now }: { outbox: Outbox; now: () => number },
  notice: NoticeOfChange,
): Promise<void> {
  const { user, change, from } = notice;
  const { mail, values } = mailAbout(user, from, now());
  const detail = toDetail(mail.lang, notice);
  await outbox.add(trx, {
    ...mail,
    template: 'security-notice',
    values: { ...values, change, ...(detail !== undefined && { detail }) },
  });
}

/** Longer than the User-Agent of any browser. */
const maxCharacters = 512;
const browsers: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const systems: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/**
 * A readable name of a browser: `Chrome on Windows`. Anyone can send any User-Agent, so only known names are shown;
 * browsers do not send exact versions and models.
 */
export function deviceName(t: T, userAgent: string | undefined): string {
  const agent = (userAgent ?? '').slice(0, maxCharacters);
  if (agent.trim() === '') return t('mail.newDevice.unknownDevice');
  const parser = Bowser.getParser(agent);
  const browser = parser.getBrowserName();
  const system = parser.getOSName();
  if (browsers.has(browser) && systems.has(system)) return t('mail.newDevice.deviceName', { browser, system });
  if (browsers.has(browser)) return browser;
  return systems.has(system) ? system : t('mail.newDevice.unknownDevice');
}
