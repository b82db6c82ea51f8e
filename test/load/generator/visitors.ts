import { setTimeout as sleep } from 'node:timers/promises';
import { type Connections, connect, direct, expect, proxied, runFor } from './connections.ts';

/** What a browser says of itself when a person opens a page. */
export const browser = {
  accept: 'text/html',
  'accept-language': 'en',
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
};

/** Repeats GET / with `atOnce` requests at the same time. @returns the requests per second */
export async function pagesPerSecond(
  port: number,
  { ms, atOnce, development = false }: { ms: number; atOnce: number; development?: boolean },
): Promise<number> {
  const connections = connect(port, atOnce, development ? direct(port) : proxied);
  const rate = await runFor(ms, atOnce, async () => {
    const answer = await connections.send('GET', '/', browser);
    expect(answer, 200, 'the page');
    if (!answer.text.includes('name="password"')) throw new Error('the page has no form');
  });
  await connections.close();
  return rate;
}

/**
 * GET / at a fixed pace, whether or not the answer before has come: what a visitor waits, without leaving out those who
 * come while the server is slow. Answers the waiting times in milliseconds, counted from when the request was due.
 */
export async function waitingTimes(
  port: number,
  { ms, perSecond }: { ms: number; perSecond: number },
): Promise<number[]> {
  const connections = connect(port, 8);
  await Promise.all(Array.from({ length: 8 }, () => connections.send('GET', '/', browser)));
  const beganMs = performance.now();
  const total = Math.floor((ms / 1000) * perSecond);
  const visit = async (dueMs: number) => {
    expect(await connections.send('GET', '/', browser), 200, 'the page');
    return performance.now() - dueMs;
  };
  const visits: Promise<number>[] = [];
  for (let index = 0; index < total; index += 1) {
    const dueMs = beganMs + (index * 1000) / perSecond;
    await sleep(Math.max(0, dueMs - performance.now()));
    // A timer that fires late is this process's own delay, not the server's.
    visits.push(visit(performance.now()));
  }
  const times = await Promise.all(visits);
  await connections.close();
  return times;
}

/** What came of the requests of some time. */
export interface Arrivals {
  sent: number;
  /** Answers that came while requests were sent. */
  servedPerSecond: number;
  refused: number;
  /** Waiting times of the refused and of the served, in milliseconds. */
  refusedMs: number[];
  servedMs: number[];
}

/** One answered request. Any other answer than 503 with Retry-After is no refusal. */
export type Outcome = 'served' | 'refused';

export function toOutcome(
  status: number,
  { isServed, hasRetryAfter }: Record<'isServed' | 'hasRetryAfter', boolean>,
): Outcome {
  if (isServed) return 'served';
  if (status === 503 && hasRetryAfter) return 'refused';
  throw new Error(`a request was answered ${status}`);
}

const paceMs = 5;
/** More than are under way at once: a request that waited for a connection would measure this process. */
export const arrivalConnections = 600;

/** Requests at a fixed pace, whatever is answered: visitors do not wait for each other. */
export async function arrivals(
  { ms, perSecond }: { ms: number; perSecond: number },
  send: (index: number) => Promise<Outcome>,
): Promise<Arrivals> {
  const waitedMs: Record<Outcome, number[]> = { served: [], refused: [] };
  const visit = async (index: number) => {
    const sentMs = performance.now();
    const outcome = await send(index);
    waitedMs[outcome].push(performance.now() - sentMs);
  };
  const visits: Promise<void>[] = [];
  const beganMs = performance.now();
  let passedMs = 0;
  while (passedMs < ms) {
    const due = Math.floor((passedMs / 1000) * perSecond);
    while (visits.length < due) visits.push(visit(visits.length));
    await sleep(paceMs);
    passedMs = performance.now() - beganMs;
  }
  const servedInTime = waitedMs.served.length;
  await Promise.all(visits);
  return {
    sent: visits.length,
    servedPerSecond: servedInTime / (passedMs / 1000),
    refused: waitedMs.refused.length,
    refusedMs: waitedMs.refused,
    servedMs: waitedMs.served,
  };
}

async function getArrivals(
  connections: Connections,
  how: { ms: number; perSecond: number },
  request: (index: number) => { path: string; headers: Record<string, string> },
): Promise<Arrivals> {
  try {
    return await arrivals(how, async (index) => {
      const { path, headers } = request(index);
      const answer = await connections.send('GET', path, headers);
      return toOutcome(answer.status, {
        isServed: answer.status === 200,
        hasRetryAfter: answer.headers['retry-after'] !== undefined,
      });
    });
  } finally {
    await connections.close();
  }
}

/** GET / at a fixed pace. */
export const pageArrivals = (port: number, how: { ms: number; perSecond: number }): Promise<Arrivals> =>
  getArrivals(connect(port, arrivalConnections), how, () => ({ path: '/', headers: browser }));

/** Members with a session open their settings at a fixed pace. @param sessions the cookies of each */
export async function memberArrivals(
  port: number,
  sessions: readonly string[],
  how: { ms: number; perSecond: number },
): Promise<Arrivals> {
  const atOnce = 32;
  const connections = connect(port, atOnce);
  const request = (index: number) => ({
    path: '/settings',
    headers: { ...browser, cookie: sessions[index % sessions.length] ?? '' },
  });
  // A new connection would wait for its place in the queue of the listening socket.
  await Promise.all(Array.from({ length: atOnce }, () => connections.send('GET', '/healthz', {})));
  return getArrivals(connections, how, request);
}
