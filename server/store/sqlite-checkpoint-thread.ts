/** The thread of `sqlite-checkpoints.ts`: on request it copies a log into its file, and waits for the disk. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import type { CheckpointRequest } from './sqlite-checkpoints.ts';

const databases = new Map<number, DatabaseSync>();

function open(id: number, path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 });
  databases.set(id, database);
  // The connection only writes data that others have committed.
  database.exec('PRAGMA synchronous = NORMAL');
  return database;
}

function close(id: number): void {
  databases.get(id)?.close();
  databases.delete(id);
}

parentPort?.on('message', ({ act, id, path }: CheckpointRequest) => {
  try {
    if (act === 'close') close(id);
    else (databases.get(id) ?? open(id, path)).prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  } catch {
    // Busy, or a disk error: the next one tries again, and writers get the error themselves.
  }
  parentPort?.postMessage(id);
  if (act === 'close' && databases.size === 0) parentPort?.close();
});
