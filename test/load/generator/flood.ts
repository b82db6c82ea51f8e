import { setTimeout as sleep } from 'node:timers/promises';
import { memberEmail, password } from '../setting.ts';
import { ownForm } from './browsing.ts';
import { type Answer, type Connections, connect, cookiesOf, expect, proxied } from './connections.ts';

/** The time between two sign-ins of users. */
const everyMs = 100;

function signIn(connections: Connections, index: number, cookie = ''): Promise<Answer> {
  const body = new URLSearchParams({ username: memberEmail(index), password }).toString();
  return connections.send('POST', '/sign-in', cookie === '' ? ownForm : { ...ownForm, cookie }, body);
}

export interface Waits {
  waitedMs: number[];
  /** The number of refused sign-ins with the right password. */
  refused: number;
}

/** Users from number `first` on sign in from their own browsers and addresses, one every 100 ms. */
export async function honestSignIns({ port, first, count }: { port: number; first: number; count: number }) {
  const waits: Waits = { waitedMs: [], refused: 0 };
  const visit = async (n: number) => {
    const address = `198.51.${Math.floor((first + n) / 200)}.${(first + n) % 200}`;
    const connections = connect(port, 1, { ...proxied, 'x-forwarded-for': address });
    const beganMs = performance.now();
    const { status } = await signIn(connections, first + n);
    waits.waitedMs.push(performance.now() - beganMs);
    if (status !== 303) waits.refused += 1;
    await connections.close();
  };
  const visits: Promise<void>[] = [];
  for (let n = 0; n < count; n += 1) {
    visits.push(visit(n));
    await sleep(everyMs);
  }
  await Promise.all(visits);
  return waits;
}

interface Flood {
  port: number;
  member: number;
  devices: number;
  rightPasswords: number;
  first: number;
  count: number;
}

/** Known devices of one user send right passwords all at once, while other users sign in. */
export async function flood({ port, member, devices, rightPasswords, ...others }: Flood): Promise<Waits> {
  const connections = connect(port, rightPasswords);
  const known: string[] = [];
  for (let n = 0; n < devices; n += 1) {
    const answer = await signIn(connections, member);
    expect(answer, 303, 'the sign-in of a device');
    const mark = cookiesOf(answer).find((cookie) => cookie.includes('foyer_device='));
    if (mark === undefined) throw new Error('the sign-in left no mark of the device');
    known.push(mark);
  }
  const burst = Array.from({ length: rightPasswords }, (_, n) => signIn(connections, member, known[n % known.length]));
  const waits = await honestSignIns({ port, ...others });
  await Promise.all(burst);
  await connections.close();
  return waits;
}
