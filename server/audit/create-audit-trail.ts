import type { Logger } from '../http/index.ts';
import { dayMs, hourMs, minuteMs } from '../shared/index.ts';
import { createLease, type Database, runPeriodically } from '../store/index.ts';
import { readDevice } from './actor.ts';
import type { AuditSubscribers } from './audit-hooks.ts';
import { findMark } from './audit-store.ts';
import { isSigned, toAuditKeys } from './chain.ts';
import { recordEntry } from './record-entry.ts';
import { createRefusalCounter } from './refusals.ts';
import { dropExpired, renewSignatures } from './retention.ts';
import { sealAll } from './seal.ts';

interface AuditSettings {
  database: Database;
  secretKeys: readonly string[];
  /** AUDIT_DAYS. */
  days: number;
  log: Logger;
  now: () => number;
}

export interface AuditTrail {
  /** For `wiring.ts`. */
  subscribers: { [Event in keyof AuditSubscribers]: AuditSubscribers[Event][string] };
  /** Records the refusals until now, and appends all queued events to the chain. */
  seal(): Promise<void>;
  /** Deletes the events that are older than AUDIT_DAYS, unless the trail is broken there. */
  sweep(): Promise<void>;
  /** Seals what is left, and stops the jobs. */
  stop(): Promise<void>;
}

const sealEveryMs = 1_000;

/** Runs without overlapping itself. Returns the function that stops it and waits for a running turn. */
function repeat(everyMs: number, run: () => Promise<void>): () => Promise<void> {
  let turn: Promise<void> | undefined;
  const timer = setInterval(() => {
    turn ??= run().finally(() => {
      turn = undefined;
    });
  }, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await turn;
  };
}

/** The audit trail of one process: its sealer, and the sweep of one process at a time. */
export function createAuditTrail({ database, secretKeys, days, log, now }: AuditSettings): AuditTrail {
  const keys = toAuditKeys(secretKeys);
  const refusals = createRefusalCounter();
  let flushedAtMs = now();
  let loggedAtMs = 0;

  async function recordRefusals(): Promise<void> {
    flushedAtMs = now();
    for (const entry of refusals.take(flushedAtMs)) await recordEntry(database.db, entry);
  }

  const logBroken = (seq: number) =>
    log.error({ act: 'audit-broken', seq }, 'the audit trail is not intact: run `foyer audit verify`');

  /** The head in the log is an anchor for `foyer audit verify` outside of the database. */
  async function logHead(): Promise<void> {
    loggedAtMs = now();
    const head = await findMark(database.db, 'head');
    if (!head) return;
    if (!isSigned(keys, 'head', head)) return logBroken(head.seq);
    log.info({ act: 'audit-head', anchor: `${head.seq}:${head.chainHash}` }, 'head of the audit trail');
  }

  async function turn(): Promise<void> {
    try {
      if (now() - flushedAtMs >= minuteMs) await recordRefusals();
      const sealed = await sealAll(database, keys, now());
      if (sealed > 0 && now() - loggedAtMs >= hourMs) await logHead();
    } catch (error) {
      log.warn({ err: error }, 'could not seal the audit trail');
    }
  }

  const seal = async () => {
    await recordRefusals();
    await sealAll(database, keys, now());
  };
  const sweep = async () => {
    const nowMs = now();
    await renewSignatures(database, keys, nowMs);
    const dropped = await dropExpired(database, keys, { beforeMs: nowMs - days * dayMs, nowMs });
    if (dropped.kind === 'broken') logBroken(dropped.seq);
  };
  const stopSealer = repeat(sealEveryMs, turn);
  const lease = createLease(database, 'sweep of the audit trail', { ttlMs: 2 * hourMs, now });
  const onError = (error: unknown) => log.warn({ err: error }, 'could not sweep the audit trail');
  const stopSweep = runPeriodically(lease, { everyMs: hourMs, run: sweep, onError });
  return {
    subscribers: {
      onAct: recordEntry,
      onSignInRefused: async (refused) => refusals.count({ ...refused, device: readDevice() }),
    },
    seal,
    sweep,
    async stop() {
      await Promise.all([stopSealer(), stopSweep()]);
      await seal().catch((error: unknown) => log.warn({ err: error }, 'could not seal the audit trail'));
    },
  };
}
