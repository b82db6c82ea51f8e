import { existsSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { dataFiles, listDataFiles, syncPath } from './data-files.ts';
import { StoreUnavailable } from './key-value.ts';
import { fromSqliteError, isBusy, whileBusy } from './sqlite-errors.ts';
import { parseStored } from './stored-json.ts';

/**
 * A folder of this name in DATA_DIR is a replacement that is decided and perhaps not completed: it has the new files in
 * `new/`, receives the former ones, and is renamed at the end.
 */
const replacement = 'replacement.ready';
const planFile = 'plan.json';
const lockFile = 'lock.db';

/** `former`: the names of the files that are replaced; `aside`: the name of the folder for them. */
const planSchema = z.strictObject({ former: z.array(z.string()), aside: z.string() });

/** Locks that a process can have on the stores' files. */
interface DataLock {
  release(): void;
}

/** @throws StoreUnavailable if another process has opened the file, or it cannot be opened */
async function lock(path: string): Promise<DatabaseSync | undefined> {
  const database = await whileBusy(() => new DatabaseSync(path, { timeout: 0 }));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    // From here on there is one file: no log, and no journal.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) throw new StoreUnavailable(`${path} is in use`);
    // A damaged file has no lock, and is replaced.
    return undefined;
  }
}

/**
 * Locks the stores in a folder, so that no other process opens them.
 * @throws StoreUnavailable if one has
 */
export async function lockData(dataDir: string): Promise<DataLock> {
  const locks: DatabaseSync[] = [];
  const release = () => {
    for (const locked of locks) locked.close();
  };
  try {
    for (const path of dataFiles.map((name) => join(dataDir, name)).filter((path) => existsSync(path))) {
      const locked = await lock(path);
      if (locked) locks.push(locked);
    }
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Replaces the stores in `dataDir` by the files in `staged/new`: all of them, or none. A process that is killed
 * meanwhile leaves the former files, or a folder with which {@link finishReplacement} completes it.
 * @param staged a folder in `dataDir`, with nothing else than `new`
 * @param aside the name in `dataDir` of the folder for the former files
 */
export function replaceData(dataDir: string, staged: string, aside: string): void {
  const plan = join(staged, planFile);
  writeFileSync(plan, JSON.stringify({ former: listDataFiles(dataDir), aside }), { mode: 0o600, flush: true });
  for (const name of readdirSync(join(staged, 'new'))) syncPath(join(staged, 'new', name));
  for (const folder of [join(staged, 'new'), staged]) syncPath(folder);
  renameSync(staged, join(dataDir, replacement));
  syncPath(dataDir);
  finishReplacement(dataDir);
}

/** Each step may have been done by a process that was killed. */
function carryOut(dataDir: string, folder: string): void {
  const { former, aside } = parseStored(planSchema, readFileSync(join(folder, planFile), 'utf8'));
  const moved = former.filter((name) => existsSync(join(folder, name)));
  for (const name of former) if (!moved.includes(name)) renameSync(join(dataDir, name), join(folder, name));
  const fresh = join(folder, 'new');
  if (existsSync(fresh)) {
    for (const name of readdirSync(fresh)) renameSync(join(fresh, name), join(dataDir, name));
    rmdirSync(fresh);
  }
  rmSync(join(folder, lockFile), { force: true });
  syncPath(folder);
  syncPath(dataDir);
  // Without it there is no replacement any more.
  renameSync(folder, join(dataDir, aside));
  rmSync(join(dataDir, aside, planFile), { force: true });
  if (former.length === 0) rmdirSync(join(dataDir, aside));
  syncPath(dataDir);
}

/** @returns undefined if another process has completed it meanwhile */
function openLock(folder: string): DatabaseSync | undefined {
  try {
    return new DatabaseSync(join(folder, lockFile), { timeout: 10_000 });
  } catch (error) {
    if (!existsSync(folder)) return undefined;
    throw fromSqliteError(error);
  }
}

/**
 * Completes a replacement whose process was killed; mostly there is none. Of several processes one does it.
 * @returns whether there was one
 */
export function finishReplacement(dataDir: string): boolean {
  const folder = join(dataDir, replacement);
  if (!existsSync(folder)) return false;
  const turn = openLock(folder);
  try {
    turn?.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    if (!existsSync(folder)) return false;
    carryOut(dataDir, folder);
    return true;
  } finally {
    turn?.close();
  }
}
