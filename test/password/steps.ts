import { createHmac } from 'node:crypto';
import { deriveKey } from '../../server/store/index.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';

export const newPassword = 'a walk in the rain 4';

/** The code in the newest mail. */
export async function codeFor(foyer: TestFoyer, email: string): Promise<string> {
  const mails = (await foyer.mails(email)).filter(({ template }) => template === 'password-reset');
  const code = mails.at(-1)?.values.code;
  if (typeof code !== 'string') throw new Error(`no code was mailed to ${email}`);
  return code;
}

/** Another code than this one. */
export const otherThan = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0');

export const resetPath = (username: string) => `/reset-password?${new URLSearchParams({ username })}`;

/** Asks for a code; throws without one. */
export async function ask(browser: Browser, username: string): Promise<void> {
  const answer = await browser.post('/forgot-password', { username });
  if (answer.status !== 303) throw new Error(`forgot-password answered ${answer.status}: ${await answer.text()}`);
}

export const submit = (browser: Browser, username: string, code: string, password = newPassword) =>
  browser.post(resetPath(username), { code, password, confirm: password });

/** Resets the password from the first page to the last. */
export async function reset(foyer: TestFoyer, browser: Browser, email: string, password = newPassword) {
  await ask(browser, email);
  const answer = await submit(browser, email, await codeFor(foyer, email), password);
  if (answer.status !== 303) throw new Error(`reset-password answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

/** Ends the wait before another code, which runs by the clock of the store. */
export async function endWait(foyer: TestFoyer, flow: string): Promise<void> {
  const key = deriveKey(foyer.deps.config.SECRET_KEYS[0] ?? '', 'one-time codes', 32);
  const digest = createHmac('sha256', key).update(flow).digest('base64url').slice(0, 32);
  await foyer.deps.kv.delete(`code-wait:reset-password:${digest}`);
}

export const flowOf = async (browser: Browser): Promise<string> => (await browser.cookies()).foyer_reset ?? '';

/** The text of a page without its markup. */
export async function read(answer: Response): Promise<string> {
  const html = await answer.text();
  const main = /<main[^>]*>(.*)<\/main>/s.exec(html)?.[1] ?? '';
  return main
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');
}
