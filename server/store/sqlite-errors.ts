import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from './key-value.ts';

/** How long an operation waits for another process's write before it gives up. */
export const BUSY_LIMIT_MS = 10_000;

/** Primary result codes, https://www.sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
/** Codes of a file that cannot be used now: NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB. */
const FILE_TROUBLE = new Set([7, 8, 10, 11, 13, 14, 15, 26]);

/** The extended result code of an error of `node:sqlite`, else undefined. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

function primaryCode(error: unknown): number | undefined {
  const code = sqliteCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Another connection holds the lock: the same attempt may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

/** StoreUnavailable for a file that cannot be used (full disk, closed, unreadable), any other error as it is. */
export function fromSqliteError(error: unknown): unknown {
  const code = primaryCode(error);
  if (code !== undefined && FILE_TROUBLE.has(code)) return unavailable(error);
  if (error instanceof Error && 'code' in error) {
    // Node's words for a closed connection, and the file system's for a directory that cannot be written.
    const closed = error.code === 'ERR_INVALID_STATE';
    const fileSystem = typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code);
    if (closed || fileSystem) return unavailable(error);
  }
  return error;
}

function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`The SQLite file cannot be used: ${cause instanceof Error ? cause.message : cause}`, {
    cause,
  });
}

/**
 * Runs one synchronous piece of SQLite work and repeats it while another process holds the lock. Waits between
 * attempts without blocking the event loop, and with jitter, so that two processes do not meet again and again.
 *
 * @throws StoreUnavailable when the lock stays taken for `limitMs`, or the file cannot be used.
 */
export async function whileBusy<T>(attempt: () => T, limitMs = BUSY_LIMIT_MS): Promise<T> {
  try {
    return attempt();
  } catch (error) {
    if (!isBusy(error)) throw fromSqliteError(error);
  }
  const deadline = performance.now() + limitMs;
  for (let round = 0; ; round += 1) {
    await pauseBeforeRetry(round);
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw fromSqliteError(error);
      if (performance.now() > deadline) {
        throw new StoreUnavailable(`The SQLite file stayed locked for ${limitMs} ms`, { cause: error });
      }
    }
  }
}

/** At first the next turn of the event loop (most write locks last microseconds), then 1 to 20 ms. */
export async function pauseBeforeRetry(round: number): Promise<void> {
  if (round < 3) await nextTurn();
  else await sleep(1 + Math.random() * Math.min(19, round));
}
