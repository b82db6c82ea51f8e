import { Agent, request } from 'node:http';
import { createRandom } from './random.ts';
import type { FuzzRequest } from './request-parts.ts';
import { generators, type Kind, kinds } from './requests.ts';
import type { FuzzScene } from './scene.ts';

/** An answer that no request may cause. */
export interface Finding {
  /** Repeats the request: `createRandom(seed)` with its kind. */
  seed: number;
  kind: Kind;
  request: string;
  fault: string;
}

export interface FuzzResult {
  sent: Record<Kind, number>;
  /** Answers by the hundreds of their status. */
  statuses: Record<string, number>;
  findings: Finding[];
  slowestMs: number;
}

export interface FuzzOptions {
  requests: number;
  seed: number;
  /** Called now and then with the number of requests sent. */
  progress?(sent: number): void;
}

/** The maximum time of an answer, also while the server handles a hundred others. */
const hangMs = 20_000;
const parallel = 16;
/** After so many requests limits, sessions and pending requests are renewed. */
const renewEvery = 20_000;

const agent = new Agent({ keepAlive: true, maxSockets: parallel, timeout: 1_000 });

/**
 * Sends one request.
 * @returns its status
 * @throws Error when the connection breaks or no answer comes
 */
function send(port: number, { method, path, headers, body }: FuzzRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request(
      { host: '127.0.0.1', port, method, path, agent, headers: { ...headers, ...length } },
      (answer) => {
        answer.on('error', reject);
        answer.on('end', () => resolve(answer.statusCode ?? 0));
        answer.resume();
      },
    );
    sent.setTimeout(hangMs, () => sent.destroy(new Error(`no answer within ${hangMs} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

const inShort = ({ method, path, headers, body = '' }: FuzzRequest) =>
  `${method} ${path} ${JSON.stringify(headers)} ${String(body)}`.slice(0, 3_000);

/**
 * Sends requests that a seed decides. Every finding has a seed of its own, since the order of answers differs from run
 * to run.
 */
export async function fuzz(scene: FuzzScene, { requests, seed, progress }: FuzzOptions): Promise<FuzzResult> {
  const result: FuzzResult = {
    sent: Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>,
    statuses: {},
    findings: [],
    slowestMs: 0,
  };
  let next = 0;
  const one = async () => {
    const number = next;
    next += 1;
    const own = (seed + number * 7_919) >>> 0;
    const random = createRandom(own);
    const kind = random.pick(kinds);
    const made = generators[kind](random, scene);
    const beganMs = performance.now();
    const outcome = await send(scene.port, made).catch((error: unknown) => error);
    result.slowestMs = Math.max(result.slowestMs, performance.now() - beganMs);
    result.sent[kind] += 1;
    const status = typeof outcome === 'number' ? outcome : 0;
    const hundred = `${Math.floor(status / 100)}xx`;
    result.statuses[hundred] = (result.statuses[hundred] ?? 0) + 1;
    if (status >= 200 && status < 500) return;
    const fault = status === 0 ? String(outcome) : `answered ${status}`;
    if (result.findings.length < 200) result.findings.push({ seed: own, kind, request: inShort(made), fault });
  };
  while (next < requests) {
    const end = Math.min(requests, next + renewEvery);
    const worker = async () => {
      while (next < end) await one();
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    progress?.(next);
    if (next < requests) await scene.renew();
  }
  return result;
}
