/**
 * The module of the stores: records in SQLite or PostgreSQL, short-lived state in an embedded file or Redis, and the
 * sealing of secrets.
 * Owns connections, time limits and retries, the migrations, the generated schema, the key-value contract, and its records
 * that belong to one browser. Does not own queries: they are in the `<noun>-store.ts` of the module that owns the noun.
 * Nor the meaning of keys in the key-value store: each module has its own prefixes, and uses a key for one kind of
 * entry (value, counter or set).
 * A store that cannot answer throws StoreUnavailable, which HTTP answers with 503; any other error is a fault.
 */
export { type BrowserRecords, browserRecords, isToken, type RecordCookie } from './browser-records.ts';
export { cacheUntilChanged } from './change-marker.ts';
export { openKeyValue } from './create-key-value.ts';
export { type DataFile, databaseFile, dataFiles, listDataFiles, shortLivedFile, syncPath } from './data-files.ts';
export { type Database, postgresPoolSize } from './database.ts';
export type { Db, NewRow, Row } from './db.ts';
export { describeUnavailable } from './describe-unavailable.ts';
export { gatherCalls } from './gather-calls.ts';
export { inspectDatabase, inspectSqliteFile, type SqliteFacts } from './inspection.ts';
export { type KeyValueStore, StoreUnavailable } from './key-value.ts';
export { createLease, isLeaseHeld, type Lease, runPeriodically } from './leases.ts';
export {
  isClockBehind,
  lastMigratedAt,
  migrate,
  migrationState,
  newestMigration,
  pendingMigrations,
  type SchemaState,
  schemaState,
} from './migrate.ts';
export type { StoreObserver } from './observe-store.ts';
export { openDatabase } from './open-database.ts';
export { type BoundQuery, prepare, prepareOnce } from './prepared.ts';
export { readTogether } from './read-together.ts';
export type { RedisClient } from './redis-client.ts';
export { inspectRedis, type RedisFacts } from './redis-inspection.ts';
export { finishReplacement, lockData, replaceData } from './replace-data.ts';
export { isStamped, stampSandbox } from './sandbox-stamp.ts';
export type { Schema } from './schema.ts';
export { cachingSecretBox, createSecretBox, deriveKey, type SecretBox, UnsealError } from './secret-box.ts';
export { isDiskFull, snapshotSqlite } from './snapshot.ts';
export { acceptFormerNames, checkedAs, parseStored, StoredDataInvalid } from './stored-json.ts';
export { storedRecords } from './stored-records.ts';
export { isUniqueViolation } from './unique-violation.ts';
export { uuidv7 } from './uuid.ts';
export { countVisitorData, type VisitorData, visitorDataLevel } from './visitor-data.ts';
export { inspectVisitorData } from './visitor-data-inspection.ts';
export { probeDatabase, probeKeyValue, type StoreProbe } from './write-probe.ts';
