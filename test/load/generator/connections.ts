import { type Dispatcher, Pool } from 'undici';
import { host } from '../setting.ts';

export interface Answer {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  text: string;
}

export interface Connections {
  send(method: 'GET' | 'POST', path: string, headers?: Record<string, string>, body?: string): Promise<Answer>;
  close(): Promise<void>;
}

/** The headers of a proxy on the same host before a Foyer in production. */
export const proxied = { host, 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' };
/** The headers of a browser on the same host as a Foyer in development. */
export const direct = (port: number) => ({ host: `localhost:${port}` });

/**
 * Kept-alive connections to a server on this machine.
 * @param common headers of every request
 */
export function connect(port: number, connections: number, common: Record<string, string> = proxied): Connections {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
  return {
    async send(method, path, headers, body) {
      const answer = await pool.request({
        method,
        path,
        headers: { ...common, ...headers },
        ...(body !== undefined && { body }),
      });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
    close: () => pool.close(),
  };
}

/** The cookies of an answer, in the form that the next request sends. */
export function cookiesOf({ headers }: Answer): string[] {
  return [headers['set-cookie'] ?? []].flat().map((line) => line.split(';', 1)[0] ?? '');
}

/** @throws Error that shows the actual answer */
export function expect(answer: Answer, status: number, what: string): void {
  if (answer.status === status) return;
  throw new Error(`${what} answered ${answer.status} instead of ${status}: ${answer.text.slice(0, 500)}`);
}

/**
 * Keeps this process awake until `work` is done. An idle generator would be put to sleep, and on a virtual machine
 * waking it costs the server more than a whole answer, which would favour the faster of two servers.
 */
async function awake<T>(work: Promise<T>): Promise<T> {
  let over = false;
  const turn = () => {
    if (!over) setImmediate(turn);
  };
  turn();
  try {
    return await work;
  } finally {
    over = true;
  }
}

/**
 * Runs `job` for the numbers from 0 to `count`, `atOnce` at a time.
 * @returns milliseconds
 */
export async function runCounted(
  count: number,
  atOnce: number,
  job: (index: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await job(index);
    }
  };
  const beganMs = performance.now();
  await awake(Promise.all(Array.from({ length: atOnce }, worker)));
  return performance.now() - beganMs;
}

/**
 * Repeats `job` for some time, `atOnce` at a time.
 * @returns how many were done per second
 */
export async function runFor(ms: number, atOnce: number, job: (index: number) => Promise<void>): Promise<number> {
  let done = 0;
  const beganMs = performance.now();
  let next = 0;
  const worker = async () => {
    while (performance.now() - beganMs < ms) {
      const index = next;
      next += 1;
      await job(index);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return done / ((performance.now() - beganMs) / 1000);
}
