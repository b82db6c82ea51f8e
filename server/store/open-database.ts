import type { Database, StoreLog } from './database.ts';
import { openSqliteDatabase } from './database-sqlite.ts';
import type { StoreObserver } from './observe-store.ts';

interface DatabaseOptions {
  /** `postgres://…`; empty or absent: SQLite in `dataDir`. */
  url?: string | undefined;
  /** Folder of the SQLite file `foyer.db`. */
  dataDir: string;
  log?: StoreLog | undefined;
  observe?: StoreObserver | undefined;
}

/**
 * Opens the database and verifies that it answers. `migrate` creates the tables.
 * @throws StoreUnavailable if it cannot be reached; TypeError for an unsupported address.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url = '', dataDir, log = () => {}, observe } = options;
  if (url === '') return openSqliteDatabase(dataDir, observe);
  if (/^postgres(ql)?:\/\//.test(url)) {
    // Loaded only where there is one: it takes memory and time at a start.
    const { openPostgresDatabase } = await import('./database-postgres.ts');
    return openPostgresDatabase(url, log, observe);
  }
  throw new TypeError('A database address begins with postgres:// (or is empty, for SQLite)');
}
