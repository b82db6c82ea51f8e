import { memberEmail, password } from '../setting.ts';
import { ownForm } from './browsing.ts';
import { type Answer, type Connections, connect, cookiesOf, expect, runFor } from './connections.ts';
import { openSockets } from './sockets.ts';
import { type Arrivals, arrivalConnections, arrivals, browser, toOutcome } from './visitors.ts';

/** A browser asks for a page. */
const form = { ...ownForm, accept: browser.accept, 'accept-language': browser['accept-language'] };

const toBody = (index: number) => new URLSearchParams({ username: memberEmail(index), password }).toString();

const sendSignIn = (connections: Connections, index: number, cookie = ''): Promise<Answer> => {
  return connections.send('POST', '/sign-in', cookie === '' ? form : { ...form, cookie }, toBody(index));
};

/** A refusal may also be a redirect. */
const hasSession = (answer: Answer): boolean => cookiesOf(answer).some((one) => one.includes('foyer_session='));

/** Signs a user in by Foyer's form. @returns the cookies of the browser */
async function signIn(connections: Connections, index: number, cookie = ''): Promise<string[]> {
  const answer = await sendSignIn(connections, index, cookie);
  expect(answer, 303, 'sign-in');
  if (!hasSession(answer)) throw new Error('the sign-in began no session');
  return cookiesOf(answer);
}

/** The Cookie headers of `count` users' browsers after signing in. */
export async function signInAll(port: number, count: number): Promise<string[]> {
  const connections = connect(port, 2);
  const sessions: string[] = [];
  for (let index = 0; index < count; index += 1) sessions.push((await signIn(connections, index)).join('; '));
  await connections.close();
  return sessions;
}

/** The same for the baseline, which has no form. */
export async function openAll(port: number, count: number): Promise<string[]> {
  const connections = connect(port, 2);
  const sessions: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const answer = await connections.send('GET', `/bench-session/${index}`);
    expect(answer, 303, 'the yardstick');
    sessions.push(cookiesOf(answer).join('; '));
  }
  await connections.close();
  return sessions;
}

/** Only the known-device cookie: a user returns after the end of the session. */
export function deviceOnly(sessions: readonly string[]): string[] {
  return sessions.map((cookies) => {
    const device = cookies.split('; ').find((cookie) => cookie.includes('foyer_device='));
    if (device === undefined) throw new Error('the sign-in left no mark of the device');
    return device;
  });
}

/** Users sign in with `atOnce` requests at the same time. @returns the sign-ins per second */
export async function signInsPerSecond(
  port: number,
  devices: readonly string[],
  { ms, atOnce }: { ms: number; atOnce: number },
): Promise<number> {
  const connections = connect(port, atOnce);
  const rate = await runFor(ms, atOnce, async (turn) => {
    const index = turn % devices.length;
    await signIn(connections, index, devices[index]);
  });
  await connections.close();
  return rate;
}

/** Users sign in at a fixed pace, on connections that are open before: a server accepts one in a turn of its loop. */
export async function signInArrivals(
  port: number,
  devices: readonly string[],
  how: { ms: number; perSecond: number },
): Promise<Arrivals> {
  const sockets = await openSockets(port, arrivalConnections);
  const bodies = devices.map((_, index) => toBody(index));
  try {
    return await arrivals(how, async (turn) => {
      const index = turn % devices.length;
      const { status, head } = await sockets.post(
        '/sign-in',
        { ...form, cookie: devices[index] ?? '' },
        bodies[index] ?? '',
      );
      const isServed = status === 303 && head.includes('foyer_session=');
      return toOutcome(status, { isServed, hasRetryAfter: head.includes('\r\nretry-after: ') });
    });
  } finally {
    sockets.close();
  }
}
