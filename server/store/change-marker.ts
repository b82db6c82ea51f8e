/**
 * Tells cheaply whether rows may have changed, so that what was read can be kept until they do. Each mark is a number
 * that is another one after every committed change, by whichever process; undefined when this database cannot tell.
 */
export interface ChangeMarker {
  /** For answers that name their row: changes of the rows that a table has. New rows alone do not count. */
  ofRows(table: string): number | undefined;
  /** For all other answers: any change of a table. */
  ofTable(table: string): number | undefined;
}

/** For a database that cannot tell: everything is read each time. */
export const noChangeTracking: ChangeMarker = { ofRows: () => undefined, ofTable: () => undefined };

/** Reads through what is kept. */
export type CachedReader<V> = (key: string, read: () => Promise<V | undefined>) => Promise<V | undefined>;

/**
 * Keeps answers of the database for as long as the mark stands still, so each is what the database would say at this
 * moment. What was not found is asked for again each time.
 *
 * Callers share the values, and must not change them.
 *
 * @param max how many are kept; the oldest go first
 */
export function cacheUntilChanged<V>(mark: () => number | undefined, max = 1_000): CachedReader<V> {
  const stored = new Map<string, { mark: number; value: V }>();
  return async (key, read) => {
    // Before the read: a change that comes while it runs makes the answer look older than it is, never younger.
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
