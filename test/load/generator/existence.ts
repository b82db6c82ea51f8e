/**
 * The attacker's process: it tries users and strangers in turn and measures the load of the server after each answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '../rpc.ts';
import { host } from '../setting.ts';
import { type Answer, type Connections, connect, cookiesOf } from './connections.ts';

/** One request and its expected answer. */
export interface Ask {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
  status: number;
}

export interface Timed {
  /** The time of the answer itself, in milliseconds. */
  ownMs: number;
  /** The slowest answer of `/healthz` after it. */
  slowestMs: number;
  /** The total time of these answers. */
  sumMs: number;
}

/** The length and number of the requests to `/healthz` after each answer. */
export interface Watch {
  /** The minimum number of requests. */
  looks: number;
  /** The minimum time. */
  ms: number;
  /** The time between two requests. */
  pauseMs: number;
}

let connections: Connections | undefined;
const health: Ask = { method: 'GET', path: '/healthz', status: 200 };

/** The wait after which the immediate work of an answer is over. */
const betweenProbesMs = 30;

/** Each request comes from its own address, so that no limit of one address refuses it. */
let addresses = 0;
function nextAddress(): string {
  addresses += 1;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

async function ask({ method, path, headers, body, status }: Ask): Promise<Answer> {
  if (!connections) throw new Error('not connected');
  const from = path === health.path ? '203.0.113.7' : nextAddress();
  const answer = await connections.send(method, path, { ...headers, 'x-forwarded-for': from }, body);
  if (answer.status !== status) {
    throw new Error(`${method} ${path} answered ${answer.status}, not ${status}: ${answer.text.slice(0, 300)}`);
  }
  return answer;
}

async function probe(asked: Ask, { looks, ms, pauseMs }: Watch): Promise<Timed> {
  const beganMs = performance.now();
  await ask(asked);
  const answeredMs = performance.now();
  let [slowestMs, sumMs] = [0, 0];
  for (let look = 0; look < looks || performance.now() - answeredMs < ms; look += 1) {
    const lookedMs = performance.now();
    await ask(health);
    const tookMs = performance.now() - lookedMs;
    slowestMs = Math.max(slowestMs, tookMs);
    sumMs += tookMs;
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return { ownMs: answeredMs - beganMs, slowestMs, sumMs };
}

const handlers = {
  open({ port }: { port: number }): void {
    connections = connect(port, 1, { host, 'x-forwarded-proto': 'https' });
  },
  /** Sends all requests without measuring. @returns the text, address and cookies of each answer */
  async send({ asks }: { asks: Ask[] }): Promise<{ text: string; location: string; cookies: string }[]> {
    const answers = [];
    for (const each of asks) {
      const answer = await ask(each);
      answers.push({
        text: answer.text,
        location: String(answer.headers.location ?? ''),
        cookies: cookiesOf(answer).join('; '),
      });
    }
    return answers;
  },
  async probe({ asks, watch }: { asks: Ask[]; watch: Watch }): Promise<Timed[]> {
    const timed = [];
    for (const each of asks) {
      timed.push(await probe(each, watch));
      await sleep(betweenProbesMs);
    }
    return timed;
  },
  close: () => connections?.close(),
};
export type ExistenceProbe = typeof handlers;
serve(handlers);
