import { type CompiledQuery, TableNode } from 'kysely';
import type { ChangeMarker } from './change-marker.ts';
import type { SqliteConnection } from './sqlite.ts';

export interface SqliteChanges extends ChangeMarker {
  /** A statement was carried out, in a transaction that may still be open. */
  wrote(query: CompiledQuery): void;
  /** That transaction is over, whichever way. */
  over(): void;
}

/**
 * SQLite counts the commits of other connections to its file (`PRAGMA data_version`). All writes of this process go
 * through one connection, so seen from there those are the other processes'; its own are noted here, table by table.
 */
export function watchSqlite(writer: SqliteConnection): SqliteChanges {
  const { statement } = writer.prepare('PRAGMA data_version');
  const rowsChangedAt = new Map<string, number>();
  const tableChangedAt = new Map<string, number>();
  let uncommitted: StatementEffect[] = [];
  let counter = 1;
  let allChangedAt = counter;
  let seenVersion: unknown;

  /** Whether everything that is noted here is up to date with the file: asked once for what happens in one turn. */
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
      // Whoever has learnt of another process's commit asks us in a later turn of the event loop.
      setImmediate(() => {
        looked = false;
      });
      return true;
    } catch {
      // Closed, or busy with its recovery: whoever asks must read, and meets the trouble there.
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
    const mayReplace = query.onConflict !== undefined || query.orAction !== undefined || query.replace === true;
    return { table: query.into.table.identifier.name, onlyNewRows: !mayReplace };
  }
  if (query.kind === 'UpdateQueryNode' && query.table && TableNode.is(query.table)) {
    return { table: query.table.table.identifier.name };
  }
  // A deletion may take rows of other tables along, and of anything else nothing is known.
  return {};
}
