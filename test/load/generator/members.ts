import { memberEmail, password } from '../setting.ts';
import { ownForm } from './browsing.ts';
import { type Answer, type Connections, connect, cookiesOf, expect, runFor } from './connections.ts';
import { type Arrivals, arrivals, browser } from './visitors.ts';

const sendSignIn = (connections: Connections, index: number, cookie = ''): Promise<Answer> => {
  const body = new URLSearchParams({ username: memberEmail(index), password }).toString();
  return connections.send('POST', '/sign-in', cookie === '' ? ownForm : { ...ownForm, cookie }, body);
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

/** Users sign in at a fixed pace. */
export const signInArrivals = (
  port: number,
  devices: readonly string[],
  how: { ms: number; perSecond: number },
): Promise<Arrivals> =>
  arrivals(port, how, {
    async send(connections, turn) {
      const index = turn % devices.length;
      const answer = await sendSignIn(connections, index, devices[index]);
      if (answer.status !== 303 || hasSession(answer)) return answer;
      // The form shows its refusal on the page to which it leads.
      return connections.send('GET', String(answer.headers.location), {
        ...browser,
        cookie: cookiesOf(answer).join('; '),
      });
    },
    isServed: (answer) => answer.status === 303,
  });
