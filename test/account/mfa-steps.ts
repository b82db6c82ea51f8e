import jsQR from 'jsqr';
import { generate } from 'otplib';
import { createSandboxMailbox } from '../../sandbox/index.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';

/** The code of an app with this secret at a moment; another library than the product's computes it. */
export const appCode = (secret: string, atMs: number): Promise<string> =>
  generate({ secret, epoch: Math.floor(atMs / 1000) });

/** The status and location of a redirect. */
export const leadsTo = (answer: Response): string => `${answer.status} ${answer.headers.get('location')}`;

/** The secret and the link on the page of the second step. */
export async function shownSetup(browser: Browser): Promise<{ secret: string; uri: string; html: string }> {
  const html = await (await browser.get('/settings/mfa/totp/scan')).text();
  const text = /<code id="totp-secret"[^>]*>(.*?)<\/code>/s.exec(html)?.[1] ?? '';
  const uri = /href="(otpauth:[^"]*)"/.exec(html)?.[1] ?? '';
  return { secret: text.replace(/<[^>]*>/g, ''), uri: uri.replaceAll('&amp;', '&'), html };
}

/** Takes the first two steps; returns the secret. */
export async function begin(browser: Browser): Promise<string> {
  const begun = await browser.post('/settings/mfa/totp');
  if (begun.status !== 303) throw new Error(`totp answered ${begun.status}: ${await begun.text()}`);
  return (await shownSetup(browser)).secret;
}

export const activate = (browser: Browser, code: string) => browser.post('/settings/mfa/totp/activate', { code });

/** Takes all three steps; returns the secret. The recovery codes are not shown yet. */
export async function enrol(foyer: TestFoyer, browser: Browser): Promise<string> {
  const secret = await begin(browser);
  const answer = await activate(browser, await appCode(secret, foyer.deps.now()));
  if (answer.status !== 303) throw new Error(`activate answered ${answer.status}: ${await answer.text()}`);
  return secret;
}

/** Opens the page of the recovery codes, which shows them once. */
export async function shownCodes(browser: Browser): Promise<string[]> {
  const html = await (await browser.get('/settings/recovery-codes')).text();
  return /<pre class="recovery-codes"[^>]*>(.*?)<\/pre>/s.exec(html)?.[1]?.trim().split('\n') ?? [];
}

const pixelsPerModule = 4;

/** The text in the QR code of a page. */
export function scanned(html: string): string | undefined {
  const [, drawing = '', path = ''] =
    /<svg class="qr-code" viewBox="([^"]*)".*?<path class="qr-dark" d="([^"]*)"/s.exec(html) ?? [];
  const width = Number(drawing.split(' ')[2]) * pixelsPerModule;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y, run] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = Number(y) * pixelsPerModule; row < (Number(y) + 1) * pixelsPerModule; row += 1) {
      for (let at = Number(x) * pixelsPerModule; at < (Number(x) + Number(run)) * pixelsPerModule; at += 1) {
        pixels.fill(0, (row * width + at) * 4, (row * width + at) * 4 + 3);
      }
    }
  }
  return jsQR.default(pixels, width, width)?.data;
}

/** A new user and a browser in which it is signed in. */
export async function member(foyer: TestFoyer, user: Parameters<TestFoyer['addUser']>[0] = {}) {
  const added = await foyer.addUser(user);
  return { user: added, browser: await foyer.signedIn(added) };
}

let numbers = 0;
/** A new user with a confirmed phone, signed in. */
export function withPhone(foyer: TestFoyer) {
  numbers += 1;
  return member(foyer, { phone: `+31612345${100 + numbers}`, phoneVerified: true });
}

export async function preferenceOf(foyer: TestFoyer, id: string) {
  const { mfaPreference } = await foyer.deps.database.db
    .selectFrom('users')
    .select('mfaPreference')
    .where('id', '=', toUserId(id))
    .executeTakeFirstOrThrow();
  return mfaPreference;
}

/** The changes that were mailed to this address. */
export const changesTold = async (foyer: TestFoyer, email: string) =>
  (await foyer.mails(email))
    .filter(({ template }) => template === 'security-notice')
    .map(({ values }) => values.change);

export async function textsTo(foyer: TestFoyer, number: string) {
  await foyer.deps.outboxWorker.turn();
  const { kv, now } = foyer.deps;
  return createSandboxMailbox({ kv, now }).list({ to: number });
}

/** Sends the form of the card. */
export const choose = (browser: Browser, fields: Record<string, string>) => browser.post('/settings/mfa', fields);
