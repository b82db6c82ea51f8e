/** The attacker's process: asks for members and strangers in turn, and looks at how busy the server is after each answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '../rpc.ts';
import { host } from '../setting.ts';
import { type Answer, type Connections, connect, cookiesOf } from './connections.ts';

/** One request, and what the answer to it must be. */
export interface Ask {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
  status: number;
}

export interface Timed {
  /** Of the answer itself, in milliseconds. */
  ownMs: number;
  /** The slowest answer of `/healthz` after it. */
  slowestMs: number;
  /** All of these answers together. */
  sumMs: number;
}

/** How long and how often `/healthz` is asked after each answer. */
export interface Watch {
  /** At least so many times. */
  looks: number;
  /** At least for so long. */
  ms: number;
  /** Between two of them. */
  pauseMs: number;
}

let connections: Connections | undefined;
const health: Ask = { method: 'GET', path: '/healthz', status: 200 };

/** What follows one answer at once is over before the next request. */
const betweenProbesMs = 30;

/** Each request comes from an address of its own, so that no limit of one address is met. */
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
  /** Sends them all without looking at times; answers each answer's text, address and cookies. */
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
