import type { TableName } from './db.ts';

/**
 * Detects cheaply whether rows may have changed, so that results can be cached until then. Each mark is a number that
 * changes with every committed change, by any process; undefined if this database cannot detect changes.
 */
export interface ChangeMarker {
  /** For results of one row: changes of a table's existing rows. New rows alone do not count. */
  ofRows(table: TableName): number | undefined;
  /** For all other results: any change of a table. */
  ofTable(table: TableName): number | undefined;
}

/** For a database without change detection: everything is read each time. */
export const noChangeTracking: ChangeMarker = { ofRows: () => undefined, ofTable: () => undefined };

/** Reads through the cache. */
type CachedReader<V> = (key: string, read: () => Promise<V | undefined>) => Promise<V | undefined>;

/**
 * Caches results while the mark is unchanged, so each equals the current content of the database. Missing rows are
 * looked up again each time.
 * Callers share the values, and must not change them.
 * @param max the maximum number of entries; the oldest are removed first
 */
export function cacheUntilChanged<V>(mark: () => number | undefined, max = 1_000): CachedReader<V> {
  const stored = new Map<string, { mark: number; value: V }>();
  return async (key, read) => {
    // Before the read: a change during the read makes the result look older than it is, never younger.
    const now = mark();
    if (now === undefined) return read();
    const known = stored.get(key);
    if (known?.mark === now) return known.value;
    const value = await read();
    stored.delete(key);
    if (value === undefined) return undefined;
    if (stored.size >= max) {
      for (const oldest of stored.keys()) {
        stored.delete(oldest);
        break;
      }
    }
    stored.set(key, { mark: now, value });
    return value;
  };
}
