import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** The database in DATA_DIR. */
export const databaseFile = 'foyer.db';
/** The key-value store in DATA_DIR. */
export const shortLivedFile = 'short-lived.db';
/** The files that a backup can contain. */
export const dataFiles = [databaseFile, shortLivedFile] as const;

/** Names of SQLite's log files beside a file. */
const logs = ['-wal', '-shm', '-journal'];

/** The names of the stores' files in a folder, with the logs of SQLite. */
export const listDataFiles = (folder: string): string[] =>
  dataFiles
    .flatMap((name) => [name, ...logs.map((log) => name + log)])
    .filter((name) => existsSync(join(folder, name)));

/** Waits until a file, or the names in a folder, are on the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
