import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** The database in DATA_DIR. */
export const databaseFile = 'foyer.db' as const;
/** The key-value store in DATA_DIR. */
export const shortLivedFile = 'short-lived.db' as const;
/** The files that a backup can contain. */
export const dataFiles = [databaseFile, shortLivedFile] as const;

/** Names of SQLite's log files beside a file. */
const logs = ['-wal', '-shm', '-journal'];

export type DataFile = (typeof dataFiles)[number];

/** The names of the stores' files in a folder, with the logs of SQLite. */
export const listDataFiles = (folder: string, files: readonly DataFile[] = dataFiles): string[] =>
  files.flatMap((name) => [name, ...logs.map((log) => name + log)]).filter((name) => existsSync(join(folder, name)));

/** Waits until a file, or the names in a folder, are on the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
