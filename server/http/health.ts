import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { SchemaState, StoreProbe } from '../store/index.ts';

/** Whether this process can receive requests. */
export interface Readiness {
  draining: boolean;
}

/** GET /healthz: the process is alive. It does not check the stores, because a restart would not repair them. */
export const alive: RequestHandler = (_req, res) => {
  res.json({ status: 'alive' });
};

/** A slower store is unusable for users too, and the prober does not wait longer. */
const pingLimitMs = 2_000;

/** Probes of several load balancers must not become the store's main work. */
const writeEveryMs = 1_000;

/** @throws if the store does not answer in time */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const limit = new AbortController();
  const tooLate = sleep(pingLimitMs, undefined, { signal: limit.signal, ref: false }).then((): never => {
    throw new Error(`no answer within ${pingLimitMs} ms`);
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    limit.abort();
    tooLate.catch(() => {});
  }
}

/** Writes at most once a second; the outcome holds for the rest of it. */
function throttleWrites({ write }: StoreProbe): () => Promise<boolean> {
  let last: { atMs: number; accepted: Promise<boolean> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (last && nowMs - last.atMs < writeEveryMs) return last.accepted;
    const accepted = inTime(write()).then(
      () => true,
      () => false,
    );
    last = { atMs: nowMs, accepted };
    return accepted;
  };
}

type StoreState = 'answers' | 'refuses writes' | 'away';

function watchStore(probe: StoreProbe): () => Promise<StoreState> {
  const write = throttleWrites(probe);
  return async () => {
    try {
      await inTime(probe.ping());
    } catch {
      return 'away';
    }
    return (await write()) ? 'answers' : 'refuses writes';
  };
}

/** Reads the state of the schema at most once a second. While the database does not answer, the last state holds. */
function watchSchema(read: () => Promise<SchemaState>): () => Promise<SchemaState> {
  // The start has checked it.
  let last: SchemaState = 'current';
  let readAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = performance.now();
    if (nowMs - readAtMs >= writeEveryMs) {
      readAtMs = nowMs;
      last = await inTime(read()).catch(() => last);
    }
    return last;
  };
}

interface Probes {
  /** By the name of the store. */
  stores: Record<string, StoreProbe>;
  schema(): Promise<SchemaState>;
}

/**
 * GET /readyz: 200 if both stores answer and take a write, and this release works with the schema; 503 if not, or while
 * the process shuts down.
 */
export function ready(readiness: Readiness, probes: Probes): RequestHandler {
  const watched = Object.entries(probes.stores).map(([name, probe]) => [name, watchStore(probe)] as const);
  const readSchema = watchSchema(() => probes.schema());
  return async (_req, res) => {
    const stores = await Promise.all(watched.map(async ([name, look]) => [name, await look()] as const));
    const schema = await readSchema();
    const fits = schema === 'current' || schema === 'newer';
    const ok = !readiness.draining && fits && stores.every(([, state]) => state === 'answers');
    const status = readiness.draining ? 'draining' : ok ? 'ready' : 'not ready';
    res.status(ok ? 200 : 503).json({ status, ...Object.fromEntries(stores), schema });
  };
}
