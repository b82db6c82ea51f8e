/** The thread of `sqlite-checkpoints.ts`: copies the log into the file, and waits for the disk, whenever it is told to. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const database = new DatabaseSync(String(workerData), { timeout: 0 });
// The connection writes nothing but what others have committed.
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
    // Busy, or the disk has trouble: the next one tries again, and writers learn of the trouble themselves.
  }
  parentPort?.postMessage('done');
});
