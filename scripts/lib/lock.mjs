/**
 * One command at a time installs and builds in this tree. The lock is a file with the name of its holder; a dead holder
 * does not count.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkStopping, onExit } from './processes.mjs';

const RETRY_EVERY_MS = 100;

/**
 * Start time of a process, in clock ticks since boot (Linux, proc(5) field 22): distinguishes it from a later one with
 * the same id. Empty without /proc, and for a zombie process.
 * @param {number} pid
 */
function startedAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? '' : (others[18] ?? '');
  } catch {
    return '';
  }
}

/** @param {number} pid */
export const holderText = (pid) => `${pid} ${startedAt(pid)}\n`;

/**
 * @param {string} holder content of a lock file
 * @returns {boolean} whether the process that wrote it is alive
 */
export function isAlive(holder) {
  const pid = Number.parseInt(holder, 10);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPERM') return false;
  }
  return holderText(pid) === holder;
}

/**
 * @param {string} path
 * @returns {string | undefined}
 */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Takes the lock if it is free or its holder is dead. The file appears complete or not at all (link(2) is atomic).
 * @param {string} path
 * @returns {boolean}
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, holderText(process.pid));
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    const holder = read(path);
    if (holder !== undefined && !isAlive(holder)) removeStale(path, holder);
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

/**
 * Moves a dead holder's file away. If another command did so first and holds the lock now, its file is restored.
 * @param {string} path
 * @param {string} holder
 */
function removeStale(path, holder) {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    if (read(aside) !== holder) linkSync(aside, path);
  } catch {
    // Already deleted, or taken again meanwhile.
  }
  rmSync(aside, { force: true });
}

/**
 * @template T
 * @param {string} path
 * @param {(holder: string) => void} onWait called once if another command holds it
 * @param {() => Promise<T>} act
 * @returns {Promise<T>}
 */
export async function withLock(path, onWait, act) {
  let told = false;
  while (!tryLock(path)) {
    checkStopping();
    const holder = read(path);
    if (!told && holder !== undefined && isAlive(holder)) {
      told = true;
      onWait(holder.split(' ')[0] ?? '');
    }
    await sleep(RETRY_EVERY_MS);
  }
  const release = () => {
    if (read(path) === holderText(process.pid)) rmSync(path, { force: true });
  };
  onExit(release);
  try {
    return await act();
  } finally {
    release();
  }
}
