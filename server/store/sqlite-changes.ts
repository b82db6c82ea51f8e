import { type CompiledQuery, TableNode } from 'kysely';
import type { ChangeMarker } from './change-marker.ts';
import type { SqliteConnection } from './sqlite.ts';

export interface SqliteChanges extends ChangeMarker {
  /** Records an executed statement, in a transaction that may still be open. */
  wrote(query: CompiledQuery): void;
  /** That transaction has ended, committed or not. */
  over(): void;
}

/**
 * SQLite counts the commits of other connections to its file (`PRAGMA data_version`). All writes of this process use
 * one connection, which therefore sees the commits of other processes; its own are recorded here by table.
 */
export function watchSqlite(writer: SqliteConnection): SqliteChanges {
  const { statement } = writer.prepare('PRAGMA data_version');
  const rowsChangedAt = new Map<string, number>();
  const tableChangedAt = new Map<string, number>();
  let uncommitted: StatementEffect[] = [];
  let counter = 1;
  let allChangedAt = counter;
  let seenVersion: unknown;

  /** Whether this state is up to date with the file: checked once per turn of the event loop. */
  let looked = false;
  function look(): boolean {
    if (looked) return true;
    try {
      const version = statement.get()?.data_version;
      if (version !== seenVersion) {
        seenVersion = version;
        allChangedAt = ++counter;
      }
      looked = true;
      // A caller who learns of another process's commit reads in a later turn of the event loop.
      setImmediate(() => {
        looked = false;
      });
      return true;
    } catch {
      // Closed, or busy with its recovery: the caller must read, and gets the error there.
      return false;
    }
  }
  const latest = (changedAt: number | undefined) => Math.max(allChangedAt, changedAt ?? 0);

  return {
    ofRows: (table) => (look() ? latest(rowsChangedAt.get(table)) : undefined),
    ofTable: (table) => (look() ? latest(tableChangedAt.get(table)) : undefined),
    wrote(query) {
      uncommitted.push(statementEffect(query));
    },
    over() {
      for (const { table, onlyNewRows } of uncommitted) {
        counter += 1;
        if (table === undefined) allChangedAt = counter;
        else tableChangedAt.set(table, counter);
        if (table !== undefined && !onlyNewRows) rowsChangedAt.set(table, counter);
      }
      uncommitted = [];
    },
  };
}

interface StatementEffect {
  /** Undefined: any table. */
  table?: string;
  onlyNewRows?: boolean;
}

function statementEffect({ query }: CompiledQuery): StatementEffect {
  if (query.kind === 'InsertQueryNode' && query.into) {
    const { onConflict, orAction, replace } = query;
    const mayUpdate = onConflict !== undefined && onConflict.doNothing !== true;
    const mayReplace = mayUpdate || orAction !== undefined || replace === true;
    return { table: query.into.table.identifier.name, onlyNewRows: !mayReplace };
  }
  if (query.kind === 'UpdateQueryNode' && query.table && TableNode.is(query.table)) {
    return { table: query.table.table.identifier.name };
  }
  // A deletion may delete rows of other tables, and other statements are unknown.
  return {};
}
