import { setTimeout as sleep } from 'node:timers/promises';
import { connect, direct, expect, proxied, runFor } from './connections.ts';

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
  /** Waiting times of the refused, in milliseconds. */
  refusedMs: number[];
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
  const refusedMs: number[] = [];
  let servedCount = 0;
  const visit = async (index: number) => {
    const sentMs = performance.now();
    if ((await send(index)) === 'served') servedCount += 1;
    else refusedMs.push(performance.now() - sentMs);
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
  const servedInTime = servedCount;
  await Promise.all(visits);
  return {
    sent: visits.length,
    servedPerSecond: servedInTime / (passedMs / 1000),
    refused: refusedMs.length,
    refusedMs,
  };
}

/** GET / at a fixed pace. */
export async function pageArrivals(port: number, how: { ms: number; perSecond: number }): Promise<Arrivals> {
  const connections = connect(port, arrivalConnections);
  try {
    return await arrivals(how, async () => {
      const { status, headers } = await connections.send('GET', '/', browser);
      return toOutcome(status, { isServed: status === 200, hasRetryAfter: headers['retry-after'] !== undefined });
    });
  } finally {
    await connections.close();
  }
}
