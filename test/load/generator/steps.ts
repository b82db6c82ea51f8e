/** The process of visitors who sign up, of members with an authenticator app, and of a service that looks members up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'otplib';
import { startSmtp } from '../../messages/stand-in-smtp.ts';
import { serve } from '../rpc.ts';
import { authenticatorSecret, client, memberEmail, password } from '../setting.ts';
import { openBrowser, type VisitorsBrowser } from './browsing.ts';
import { type Connections, connect, expect, runCounted, runFor } from './connections.ts';

const stepMs = 30_000;
const marginMs = 5_000;

let opened: Connections | undefined;
function connections(): Connections {
  if (!opened) throw new Error('not connected');
  return opened;
}

let smtp: Awaited<ReturnType<typeof startSmtp>> | undefined;
/** The visitors whose mails have been read, by their addresses. */
const waiting = new Map<string, VisitorsBrowser>();
let visitors = 0;

/** Visitors send the first form of the sign-up. @returns milliseconds */
function signUp({ count, atOnce }: { count: number; atOnce: number }): Promise<number> {
  return runCounted(count, atOnce, async () => {
    visitors += 1;
    const email = `visitor${visitors}@example.com`;
    const browser = openBrowser(connections());
    const fields = { given_name: 'Ida', family_name: 'Sommer', email, password: 'open sesame 7', terms: '1' };
    const answer = await browser.post('/signup', fields);
    expect(answer, 303, 'the sign-up');
    if (answer.headers.location !== '/signup/emailCaptured')
      throw new Error(`the sign-up led to ${String(answer.headers.location)}`);
    waiting.set(email, browser);
  });
}

/** Waits until each of them has a mail. @returns their codes by their addresses */
async function codes(): Promise<[VisitorsBrowser, string][]> {
  for (let times = 0; times < 600; times += 1) {
    const byAddress = new Map(smtp?.received.map(({ to, body }) => [to[0] ?? '', body]));
    const found = [...waiting].flatMap(([email, browser]): [VisitorsBrowser, string][] => {
      const code = byAddress.get(email)?.match(/\b\d{6}\b/)?.[0];
      return code === undefined ? [] : [[browser, code]];
    });
    if (found.length === waiting.size) return found;
    await sleep(100);
  }
  throw new Error('a mail has not come within a minute');
}

let read: [VisitorsBrowser, string][] = [];

/** They confirm their addresses. @returns milliseconds */
async function confirm({ atOnce }: { atOnce: number }): Promise<number> {
  const confirming = read.splice(0);
  return runCounted(confirming.length, atOnce, async (index) => {
    const [browser, code] = confirming[index] ?? [];
    if (!browser || code === undefined) return;
    const answer = await browser.post('/signup/emailCaptured', { code });
    expect(answer, 303, 'the code of a sign-up');
    expect(await browser.get(String(answer.headers.location)), 200, 'the page after the code');
    if (!browser.isSignedIn()) throw new Error('the confirmed visitor is not signed in');
  });
}

const members: VisitorsBrowser[] = [];

async function signInWithApp(index: number, inMs: number): Promise<void> {
  members[index] ??= openBrowser(connections());
  const browser = members[index];
  const challenged = await browser.post('/sign-in', { username: memberEmail(index), password });
  expect(challenged, 303, 'the password');
  if (challenged.headers.location !== '/second-factor')
    throw new Error(`the password led to ${String(challenged.headers.location)}`);
  // The time step before is not accepted any more when the next one begins on the way.
  if (inMs < 0 && Date.now() % stepMs > stepMs - marginMs) await sleep(marginMs);
  const code = await generate({ secret: authenticatorSecret, epoch: Math.floor((Date.now() + inMs) / 1000) });
  expect(await browser.post('/second-factor', { code }), 303, 'the code of the app');
  if (!browser.isSignedIn()) throw new Error('the code of the app began no session');
  browser.forgetSession();
}

const handlers = {
  open({ port, atOnce }: { port: number; atOnce: number }): void {
    opened = connect(port, atOnce);
  },
  /** @returns the port of the mail server */
  async startMail(): Promise<number> {
    smtp = await startSmtp();
    return smtp.port;
  },
  signUp,
  async readMails(): Promise<void> {
    read = await codes();
    waiting.clear();
  },
  confirm,
  /**
   * Members sign in by password and authenticator app, each once: a code is good for one sign-in.
   * @param before with the code of the time step before, so that the present one is left
   * @returns milliseconds
   */
  signInWithApps: (how: { first: number; count: number; atOnce: number; before: boolean }): Promise<number> =>
    runCounted(how.count, how.atOnce, (n) => signInWithApp(how.first + n, how.before ? -stepMs : 0)),
  /** @returns the access token of a service */
  async tokenOf({ id, scope }: { id: string; scope: string }): Promise<string> {
    const authorization = `Basic ${Buffer.from(`${id}:${client.secret}`).toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    const body = `grant_type=client_credentials&scope=${scope}`;
    const answer = await connections().send('POST', '/oauth2/token', headers, body);
    expect(answer, 200, 'the token of the service');
    return Object(JSON.parse(answer.text)).access_token;
  },
  /** A service reads one member after the other. @returns the answers per second */
  async lookUps(how: { port: number; ms: number; atOnce: number; ids: string[]; token: string }): Promise<number> {
    const own = connect(how.port, how.atOnce);
    const headers = { authorization: `Bearer ${how.token}`, 'content-type': 'application/json' };
    const rate = await runFor(how.ms, how.atOnce, async (turn) => {
      const userId = how.ids[turn % how.ids.length];
      const answer = await own.send('POST', '/user/listUserWithPoolId', headers, JSON.stringify({ userId }));
      expect(answer, 200, 'the look-up');
      if (!answer.text.includes(`"${userId}"`)) throw new Error(`the look-up said ${answer.text}`);
    });
    await own.close();
    return rate;
  },
};
export type StepsGenerator = typeof handlers;
serve(handlers);
