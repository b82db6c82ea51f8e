import { createHmac } from 'node:crypto';
import { generate } from 'otplib';
import {
  hashRecoveryCode,
  makeRecoveryCodes,
  newTotpSecret,
  normaliseRecoveryCode,
  replaceRecoveryCodes,
  upsertTotp,
} from '../../server/mfa/index.ts';
import { deriveKey } from '../../server/store/index.ts';
import { setMfaPreference, type User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { type PlainUser, password, type TestFoyer } from '../support/foyer.ts';

export const stepMs = 30_000;

/** The code of an authenticator app at this moment; another library than the product's computes it. */
export function appCode(foyer: TestFoyer, secret: string, inMs = 0): Promise<string> {
  return generate({ secret, epoch: Math.floor((foyer.deps.now() + inMs) / 1000) });
}

/** Another code of six digits. */
export const otherThan = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0');

/** Activates an authenticator app for a user; returns its secret. */
export async function giveTotp(foyer: TestFoyer, user: User): Promise<string> {
  const secret = newTotpSecret();
  const { database, boxes, now } = foyer.deps;
  await database.transaction(async (trx) => {
    await upsertTotp(trx, boxes.mfa, { userId: user.id, secret, lastStep: 0, createdAt: now() });
    await setMfaPreference(trx, user.id, { preference: 'totp', nowMs: now() });
  });
  return secret;
}

export async function memberWithTotp(
  foyer: TestFoyer,
  more: Partial<PlainUser> = {},
): Promise<{ user: User; secret: string }> {
  const user = await foyer.addUser(more);
  return { user, secret: await giveTotp(foyer, user) };
}

let numbers = 0;
export async function memberWithSms(foyer: TestFoyer): Promise<{ user: User; phone: string }> {
  numbers += 1;
  const phone = `+4915112345${String(numbers).padStart(3, '0')}`;
  const user = await foyer.addUser({ phone, phoneVerified: true });
  const { database, now } = foyer.deps;
  await database.transaction((trx) => setMfaPreference(trx, user.id, { preference: 'sms', nowMs: now() }));
  return { user, phone };
}

/** Ten recovery codes as the page shows them. */
export async function giveRecoveryCodes(foyer: TestFoyer, user: User): Promise<string[]> {
  const codes = makeRecoveryCodes();
  const hashes = codes.map((code) => hashRecoveryCode(normaliseRecoveryCode(code) ?? ''));
  await foyer.deps.database.transaction((trx) =>
    replaceRecoveryCodes(trx, user.id, { hashes, nowMs: foyer.deps.now() }),
  );
  return codes;
}

/** The code of the newest text message to this number. */
export async function textedCode(foyer: TestFoyer, phone: string): Promise<string> {
  const code = /\b(\d{6})\b/.exec((await foyer.texts(phone)).at(-1) ?? '')?.[1];
  if (code === undefined) throw new Error(`no code was sent to ${phone}`);
  return code;
}

/** Sends the password alone. */
export async function toChallenge(browser: Browser, user: User, search = '', more: Record<string, string> = {}) {
  const answer = await browser.post(`/sign-in${search}`, { username: user.email, password, ...more });
  if (answer.headers.get('location')?.startsWith('/second-factor') !== true) {
    throw new Error(`the sign-in answered ${answer.status} ${answer.headers.get('location')}`);
  }
  return answer;
}

export const show = (browser: Browser, code: string, more: Record<string, string> = {}, search = '') =>
  browser.post(`/second-factor${search}`, { code, ...more });

/** Only a signed-in user gets the settings. */
export async function isSignedIn(browser: Browser): Promise<boolean> {
  return (await browser.get('/settings')).status === 200;
}

/** Sends the password and then the code. */
export async function signInWithTotp(foyer: TestFoyer, browser: Browser, user: User, secret: string) {
  await toChallenge(browser, user);
  return show(browser, await appCode(foyer, secret));
}

/** Ends the wait before another code, which runs by the clock of the store. */
export async function endSmsWait({ deps }: TestFoyer, flow: string): Promise<void> {
  const key = deriveKey(deps.config.SECRET_KEYS[0] ?? '', 'one-time codes', 32);
  const digest = createHmac('sha256', key).update(flow).digest('base64url').slice(0, 32);
  await deps.kv.delete(`code-wait:mfa-sms:${digest}`);
}
