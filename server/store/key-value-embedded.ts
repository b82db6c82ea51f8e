import { clampTtl } from './clamp-ttl.ts';
import type { KeyValueStore } from './key-value.ts';
import { prepareStatements, type Statements, TABLES } from './key-value-embedded-sql.ts';
import { openSqlite } from './sqlite.ts';
import { checkpointElsewhere } from './sqlite-checkpoints.ts';
import { whileBusy } from './sqlite-errors.ts';
import { createWriteBatch, type WriteBatch } from './write-batch.ts';

const SWEEP_INTERVAL_MS = 30_000;
/** Rows deleted in one transaction of the sweep. */
const SWEEP_BATCH = 500;

/**
 * The key-value store in a SQLite file that the processes of one host share.
 * Each operation is synchronous SQL inside a BEGIN IMMEDIATE transaction, shared with the other writes of the same turn
 * of the event loop. Reads need no transaction and never wait.
 * @throws StoreUnavailable if the file cannot be opened.
 */
export async function openEmbeddedKeyValue(options: {
  path: string;
  /** Interval of the deletion of expired entries; they are invisible before. */
  sweepIntervalMs?: number;
}): Promise<KeyValueStore> {
  const connection = await openSqlite(options.path);
  await whileBusy(() => connection.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT;`));
  const statements = prepareStatements(connection);
  const batch = createWriteBatch(connection);
  const checkpoints = checkpointElsewhere(options.path);
  const stopSweeping = startSweep(statements, batch, options.sweepIntervalMs ?? SWEEP_INTERVAL_MS);
  return {
    kind: 'embedded',
    ...reads(statements),
    async ping() {
      await whileBusy(() => void statements.anyExpired(0));
      await connection.stillThere();
    },
    ...entryWrites(statements, batch),
    ...collectionWrites(statements, batch),
    async close() {
      stopSweeping();
      await checkpoints.stop();
      await batch.close();
      connection.close();
    },
  };
}

function reads(sql: Statements): Pick<KeyValueStore, 'get' | 'getConsumable' | 'count' | 'setMembers'> {
  return {
    get: (key) => whileBusy(() => sql.get(key, Date.now()) ?? null),
    getConsumable: (key) => whileBusy(() => sql.getConsumable(key, Date.now()) ?? null),
    count: (key) => whileBusy(() => Number(sql.get(key, Date.now()) ?? 0)),
    setMembers: (key) => whileBusy(() => sql.members(key, Date.now())),
  };
}

type EntryWrites = 'set' | 'setIfAbsent' | 'update' | 'takeOnce' | 'consume' | 'delete' | 'compareAndDelete' | 'expire';

function entryWrites(sql: Statements, { run }: WriteBatch): Pick<KeyValueStore, EntryWrites> {
  return {
    async set(key, value, ttlMs) {
      const ttl = clampTtl(ttlMs);
      await run(() => sql.set(key, value, Date.now() + ttl));
    },
    async setIfAbsent(key, value, ttlMs) {
      const ttl = clampTtl(ttlMs);
      return run(() => {
        const now = Date.now();
        return sql.setIfAbsent(key, value, { expiresAt: now + ttl, now });
      });
    },
    update: (key, value) => run(() => sql.update(key, value, Date.now())),
    async takeOnce(key) {
      // Without an entry there is nothing to take, and a read needs no transaction.
      if ((await whileBusy(() => sql.get(key, Date.now()))) === undefined) return null;
      return run(() => {
        const value = sql.get(key, Date.now());
        if (value === undefined) return null;
        sql.delete(key);
        return value;
      });
    },
    consume: (key) =>
      run(() => {
        const now = Date.now();
        const taken = sql.markConsumed(key, now);
        if (taken !== undefined) return { state: 'consumed', value: taken };
        const used = sql.getConsumable(key, now);
        if (!used || used.consumedAt === null) return { state: 'unknown' };
        return { state: 'already-used', value: used.value, consumedAt: used.consumedAt };
      }),
    async delete(...keys) {
      if (keys.length === 0) return;
      await run(() => {
        for (const key of keys) sql.delete(key);
      });
    },
    compareAndDelete: (key, expected) => run(() => sql.compareAndDelete(key, expected, Date.now())),
    async expire(key, ttlMs) {
      const ttl = clampTtl(ttlMs);
      return run(() => sql.expire(key, Date.now() + ttl, Date.now()));
    },
  };
}

type CollectionWrites = 'consumeCount' | 'addToSet' | 'removeFromSet';

function collectionWrites(sql: Statements, { run }: WriteBatch): Pick<KeyValueStore, CollectionWrites> {
  return {
    async consumeCount(key, ttlMs, by = 1) {
      const ttl = clampTtl(ttlMs);
      return run(() => {
        const now = Date.now();
        const { count, expiresAt } = sql.addToCounter(key, by, { expiresAt: now + ttl, now });
        return { count, expiresInMs: expiresAt - now };
      });
    },
    async addToSet(key, member, ttlMs) {
      const ttl = clampTtl(ttlMs);
      await run(() => {
        const now = Date.now();
        // Members of an expired set must not reappear.
        sql.deleteIfExpired(key, now);
        sql.prolong(key, now + ttl);
        sql.addMember(key, member);
      });
    },
    async removeFromSet(key, member) {
      await run(() => sql.removeMember(key, member));
    },
  };
}

/** Deletes expired rows in small batches, so that no request waits long. Returns the function that stops it. */
function startSweep(sql: Statements, batch: WriteBatch, intervalMs: number): () => void {
  let stopped = false;
  const sweep = async () => {
    // A read first: several processes sweep the same file, and only the first finds expired rows.
    while (!stopped && (await whileBusy(() => sql.anyExpired(Date.now())))) {
      await batch.run(() => sql.deleteExpired(Date.now(), SWEEP_BATCH));
    }
  };
  const timer = setInterval(() => {
    // The next sweep tries again; expired rows are invisible in any case.
    sweep().catch(() => {});
  }, intervalMs);
  timer.unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
