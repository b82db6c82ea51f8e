import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** This file uses only Node itself: the load tests run it directly. */

export interface Asked {
  path: string;
  headers: Record<string, string>;
  /** The expected status. */
  expected: number;
}

export interface Counts {
  requests: number;
  /** Repeated because the connection broke before an answer, as browsers and proxies do with a GET. */
  repeated: number;
  /** Wrong answers: status or error → number. */
  failed: Record<string, number>;
  /** The longest wait, including repetitions. */
  slowestMs: number;
}

export interface SteadyLoad {
  counts(): Counts;
  stop(): Promise<Counts>;
}

const mostAttempts = 3;
/** Longer than a user should wait for a page. */
const answerLimitMs = 10_000;
/** Then the next visitor uses a new connection. */
const requestsPerConnection = 10;

function once(
  agent: Agent | false,
  port: number,
  { path, headers }: Pick<Asked, 'path' | 'headers'>,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers, agent }, (answer) => {
      answer.on('end', () => resolve(answer)).on('error', reject);
      answer.resume();
    });
    asked.setTimeout(answerLimitMs, () => asked.destroy(new Error('no answer in time')));
    asked.on('error', reject).end();
  });
}

const brokenConnection = (error: unknown) =>
  ['ECONNRESET', 'EPIPE', 'ECONNREFUSED'].includes(String(Reflect.get(Object(error), 'code')));

/**
 * Sends requests continuously, `atOnce` in parallel over kept connections, cycling through the given ones.
 * @param pauseMs between an answer and the next request; without one they take the processor from other work that
 * starts meanwhile
 */
export function steadyLoad(port: number, asked: readonly Asked[], atOnce: number, pauseMs = 0): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const counts: Counts = { requests: 0, repeated: 0, failed: {}, slowestMs: 0 };
  let going = true;

  async function answered(one: Asked, last: boolean): Promise<string | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const headers = last ? { ...one.headers, connection: 'close' } : one.headers;
        // Retries over a new connection, as browsers do: another kept one may be dead too.
        const { statusCode } = await once(attempt === 1 && agent, port, { ...one, headers });
        return statusCode === one.expected ? undefined : String(statusCode);
      } catch (error) {
        if (!brokenConnection(error) || attempt === mostAttempts)
          return String(Reflect.get(Object(error), 'code') ?? Reflect.get(Object(error), 'message'));
        counts.repeated += 1;
      }
    }
  }

  async function visitor(first: number): Promise<void> {
    for (let turn = first; going; turn += 1) {
      const one = asked[turn % asked.length];
      if (!one) return;
      const beganMs = performance.now();
      const failure = await answered(one, turn % requestsPerConnection === 0);
      counts.requests += 1;
      counts.slowestMs = Math.max(counts.slowestMs, performance.now() - beganMs);
      if (failure !== undefined) counts.failed[failure] = (counts.failed[failure] ?? 0) + 1;
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  const visitors = Array.from({ length: atOnce }, (_, index) => visitor(index));
  return {
    counts: () => ({ ...counts, failed: { ...counts.failed } }),
    async stop() {
      going = false;
      await Promise.all(visitors);
      agent.destroy();
      return counts;
    },
  };
}
