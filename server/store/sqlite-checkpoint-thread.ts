/** The thread of `sqlite-checkpoints.ts`: on request it copies the log into the file, and waits for the disk. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const database = new DatabaseSync(String(workerData), { timeout: 0 });
// The connection only writes data that others have committed.
database.exec('PRAGMA synchronous = NORMAL');
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');

parentPort?.on('message', (message) => {
  if (message === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  try {
    checkpoint.get();
  } catch {
    // Busy, or a disk error: the next one tries again, and writers get the error themselves.
  }
  parentPort?.postMessage('done');
});
