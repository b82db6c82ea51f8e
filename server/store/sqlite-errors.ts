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
  const code = property(error, 'errcode');
  return typeof code === 'number' ? code : undefined;
}

function primaryCode(error: unknown): number | undefined {
  const code = sqliteCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Another connection holds the lock: the same attempt may succeed soon. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

/** StoreUnavailable for an unusable file (full disk, closed, unreadable), any other error unchanged. */
export function fromSqliteError(error: unknown): unknown {
  const code = primaryCode(error);
  if (code !== undefined && FILE_TROUBLE.has(code)) return unavailable(error);
  // Node's code for a closed connection, and the file system's for a directory without write permission.
  const word = property(error, 'code');
  if (typeof word === 'string' && /^(ERR_INVALID_STATE|E[A-Z]+)$/.test(word)) return unavailable(error);
  return error;
}

/** By shape and not by class: an error of Node's own may come from another realm than this module's `Error`. */
function property(error: unknown, name: 'code' | 'errcode' | 'message'): unknown {
  if (typeof error !== 'object' || error === null) return undefined;
  return Reflect.get(error, name);
}

function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`The SQLite file cannot be used: ${property(cause, 'message')}`, { cause });
}

/**
 * Runs one synchronous piece of SQLite work and repeats it while another process holds the lock. Waits between attempts
 * without blocking the event loop, and with jitter, so that two processes do not collide repeatedly.
 * @throws StoreUnavailable if the lock stays taken for `limitMs`, or the file cannot be used.
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

/** First the next turn of the event loop (most write locks last microseconds), then 1 to 20 ms. */
export async function pauseBeforeRetry(round: number): Promise<void> {
  if (round < 3) await nextTurn();
  else await sleep(1 + Math.random() * Math.min(19, round));
}
