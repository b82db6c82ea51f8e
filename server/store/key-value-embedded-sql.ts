import type { SqliteConnection } from './sqlite.ts';

/**
 * New rows of `entries` are appended to the table, so that the writes of one transaction share pages: ordered by their
 * random keys, each would write its own page.
 * `entries` has values and counters, and one row per set; `members` has the members of sets. Expired rows stay until
 * the sweep, so every statement compares the time.
 */
export const TABLES = `
  CREATE TABLE IF NOT EXISTS entries (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    consumed_at INTEGER,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS entries_expires_at ON entries (expires_at);
  CREATE TABLE IF NOT EXISTS members (
    key TEXT NOT NULL REFERENCES entries (key) ON DELETE CASCADE,
    member TEXT NOT NULL,
    PRIMARY KEY (key, member)
  ) STRICT, WITHOUT ROWID;
`;

const WRITE = 'INSERT INTO entries (key, value, expires_at) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE';

/** When an entry that is written now expires. Milliseconds since the epoch. */
interface Lifetime {
  expiresAt: number;
  now: number;
}

export interface Statements {
  /** The value of a live entry. */
  get(key: string, now: number): string | undefined;
  getConsumable(key: string, now: number): { value: string; consumedAt: number | null } | undefined;
  members(key: string, now: number): string[];
  anyExpired(now: number): boolean;
  set(key: string, value: string, expiresAt: number): void;
  /** These return whether they changed anything. */
  setIfAbsent(key: string, value: string, lifetime: Lifetime): boolean;
  update(key: string, value: string, now: number): boolean;
  delete(key: string): boolean;
  compareAndDelete(key: string, expected: string, now: number): boolean;
  expire(key: string, expiresAt: number, now: number): boolean;
  /** The value of an entry that was live and unused; it is used now. */
  markConsumed(key: string, now: number): string | undefined;
  deleteIfExpired(key: string, now: number): void;
  deleteExpired(now: number, limit: number): number;
  addToCounter(key: string, by: number, lifetime: Lifetime): { count: number; expiresAt: number };
  prolong(key: string, expiresAt: number): void;
  addMember(key: string, member: string): void;
  removeMember(key: string, member: string): void;
}

/** The statements of the embedded store, prepared once. */
export function prepareStatements(connection: SqliteConnection): Statements {
  const get = connection.prepare('SELECT value FROM entries WHERE key = ?1 AND expires_at > ?2').statement;
  const getConsumable = connection.prepare(
    'SELECT value, consumed_at FROM entries WHERE key = ?1 AND expires_at > ?2',
  ).statement;
  const members = connection.prepare(
    'SELECT member FROM members JOIN entries USING (key) WHERE key = ?1 AND expires_at > ?2',
  ).statement;
  const anyExpired = connection.prepare('SELECT 1 FROM entries WHERE expires_at <= ?1 LIMIT 1').statement;
  const set = connection.prepare(
    `${WRITE} SET value = excluded.value, expires_at = excluded.expires_at, consumed_at = NULL`,
  ).statement;
  const setIfAbsent = connection.prepare(
    `${WRITE} SET value = excluded.value, expires_at = excluded.expires_at, consumed_at = NULL
     WHERE entries.expires_at <= ?4`,
  ).statement;
  const update = connection.prepare('UPDATE entries SET value = ?2 WHERE key = ?1 AND expires_at > ?3').statement;
  const remove = connection.prepare('DELETE FROM entries WHERE key = ?1').statement;
  const compareAndDelete = connection.prepare(
    'DELETE FROM entries WHERE key = ?1 AND value = ?2 AND expires_at > ?3',
  ).statement;
  const expire = connection.prepare('UPDATE entries SET expires_at = ?2 WHERE key = ?1 AND expires_at > ?3').statement;
  const markConsumed = connection.prepare(
    'UPDATE entries SET consumed_at = ?2 WHERE key = ?1 AND expires_at > ?2 AND consumed_at IS NULL RETURNING value',
  ).statement;
  const deleteIfExpired = connection.prepare('DELETE FROM entries WHERE key = ?1 AND expires_at <= ?2').statement;
  const deleteExpired = connection.prepare(
    'DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires_at <= ?1 LIMIT ?2)',
  ).statement;
  const addToCounter = connection.prepare(
    `INSERT INTO entries (key, value, expires_at) VALUES (?1, max(0, ?2), ?3)
     ON CONFLICT (key) DO UPDATE SET
       value = CASE WHEN expires_at > ?4 THEN max(0, CAST(value AS INTEGER) + ?2) ELSE excluded.value END,
       expires_at = CASE WHEN expires_at > ?4 THEN min(expires_at, excluded.expires_at) ELSE excluded.expires_at END,
       consumed_at = NULL
     RETURNING CAST(value AS INTEGER) AS count, expires_at`,
  ).statement;
  const prolong = connection.prepare(
    `INSERT INTO entries (key, value, expires_at) VALUES (?1, '', ?2)
     ON CONFLICT (key) DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)`,
  ).statement;
  const addMember = connection.prepare('INSERT OR IGNORE INTO members (key, member) VALUES (?1, ?2)').statement;
  const removeMember = connection.prepare('DELETE FROM members WHERE key = ?1 AND member = ?2').statement;

  return {
    get(key, now) {
      const row = get.get(key, now);
      return row && String(row.value);
    },
    getConsumable(key, now) {
      const row = getConsumable.get(key, now);
      return row && { value: String(row.value), consumedAt: row.consumed_at === null ? null : Number(row.consumed_at) };
    },
    members: (key, now) => members.all(key, now).map(({ member }) => String(member)),
    anyExpired: (now) => anyExpired.get(now) !== undefined,
    set: (key, value, expiresAt) => void set.run(key, value, expiresAt),
    setIfAbsent: (key, value, { expiresAt, now }) => setIfAbsent.run(key, value, expiresAt, now).changes === 1,
    update: (key, value, now) => update.run(key, value, now).changes === 1,
    delete: (key) => remove.run(key).changes === 1,
    compareAndDelete: (key, expected, now) => compareAndDelete.run(key, expected, now).changes === 1,
    expire: (key, expiresAt, now) => expire.run(key, expiresAt, now).changes === 1,
    markConsumed(key, now) {
      const row = markConsumed.get(key, now);
      return row && String(row.value);
    },
    deleteIfExpired: (key, now) => void deleteIfExpired.run(key, now),
    deleteExpired: (now, limit) => Number(deleteExpired.run(now, limit).changes),
    addToCounter(key, by, { expiresAt, now }) {
      const row = addToCounter.get(key, by, expiresAt, now);
      return { count: Number(row?.count), expiresAt: Number(row?.expires_at) };
    },
    prolong: (key, expiresAt) => void prolong.run(key, expiresAt),
    addMember: (key, member) => void addMember.run(key, member),
    removeMember: (key, member) => void removeMember.run(key, member),
  };
}
