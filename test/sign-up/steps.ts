import { createHmac } from 'node:crypto';
import { deriveKey } from '../../server/store/index.ts';
import { findUserByIdentifier } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { type NormalisedEmail, toNormalisedEmail } from '../support/ids.ts';

/** A password that contains no name and is in no list. */
export const newPassword = 'open sesame 7';

let visitors = 0;
/** Each call returns another address. */
export function newAddress(): NormalisedEmail {
  visitors += 1;
  return toNormalisedEmail(`visitor${visitors}@example.com`);
}

/** The fields of the first form. */
export const profile = (email: string, more: Record<string, string> = {}) => ({
  given_name: 'Ida',
  family_name: 'Sommer',
  email,
  password: newPassword,
  terms: '1',
  ...more,
});

/** The code in the newest mail to this address. */
export async function codeFor(foyer: TestFoyer, email: string): Promise<string> {
  const mails = (await foyer.mails(email)).filter(({ template }) => template === 'verify-email');
  const code = mails.at(-1)?.values.code;
  if (code === undefined) throw new Error(`no code was mailed to ${email}`);
  return String(code);
}

/** A code of six digits that is not this one. */
export const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** Starts a sign-up in this browser; returns its code. */
export async function begin(foyer: TestFoyer, browser: Browser, email: string, search = ''): Promise<string> {
  const answer = await browser.post(`/signup${search}`, profile(email));
  if (answer.status !== 303) throw new Error(`/signup answered ${answer.status}: ${await answer.text()}`);
  return codeFor(foyer, email.toLowerCase());
}

/** Ends the wait between two codes of a flow, which runs by the clock of the store. */
export async function forgetWait({ deps }: TestFoyer, flow: string): Promise<void> {
  const key = deriveKey(deps.config.SECRET_KEYS[0] ?? '', 'one-time codes', 32);
  const digest = createHmac('sha256', key).update(flow).digest('base64url').slice(0, 32);
  await deps.kv.delete(`code-wait:confirm-email:${digest}`);
}

export const confirm = (browser: Browser, code: string, path = '/signup/emailCaptured') => browser.post(path, { code });

export const member = (foyer: TestFoyer, email: string) =>
  findUserByIdentifier(foyer.stores.database.db, { email: toNormalisedEmail(email) });

export const isSignedIn = async (browser: Browser) => (await browser.get('/')).status === 303;

export const errorOf = (html: string, field: string) =>
  new RegExp(`id="field-${field}-error">.*?</svg>(.*?)</p>`).exec(html)?.[1];

export const valueOfField = (html: string, field: string) =>
  new RegExp(`<input[^>]*?id="field-${field}"[^>]*>`).exec(html)?.[0].match(/ value="([^"]*)"/)?.[1];

/** The address to which the page after the right code leads. */
export const wayOn = (foyer: TestFoyer, html: string) =>
  new URL(/data-redirect.*?href="([^"]+)"/s.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '', foyer.url).href;
