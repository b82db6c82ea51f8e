import { mkdir, mkdtemp, readdir, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkpointElsewhere } from '../../server/store/sqlite-checkpoints.ts';

describe('checkpoints by a separate thread', () => {
  let dir: string;
  let path: string;
  let database: DatabaseSync;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'foyer-test-'));
    path = join(dir, 'file.db');
    database = new DatabaseSync(path);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (value TEXT)');
  });

  afterEach(async () => {
    database.close();
    await rm(dir, { recursive: true, force: true });
  });

  const write = (rows: number) => {
    const insert = database.prepare('INSERT INTO t VALUES (?)');
    database.exec('BEGIN');
    for (let row = 0; row < rows; row += 1) insert.run('x'.repeat(1_000));
    database.exec('COMMIT');
  };
  const length = async () => (await stat(path)).size;
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await sleep(50);
  };

  it('The checkpoints copy a long log into the file repeatedly and lose nothing', async () => {
    const checkpoints = checkpointElsewhere(path);
    write(6_000);
    expect(await length()).toBeLessThan(1_000_000);
    await until(async () => (await length()) > 5_000_000);
    write(6_000);
    await until(async () => (await length()) > 11_000_000);
    await checkpoints.stop();
    expect(database.prepare('SELECT count(*) AS rows FROM t').get()).toEqual({ rows: 12_000 });
  });

  it('Two files share a thread, and one of them goes on when the other is stopped or cannot be opened', async () => {
    const listThreads = async () => (await readdir('/proc/self/task')).length;
    const broken = join(dir, 'broken.db');
    await mkdir(broken);
    await writeFile(`${broken}-wal`, Buffer.alloc(5 * 1024 * 1024));
    const first = checkpointElsewhere(path);
    write(6_000);
    await until(async () => (await length()) > 5_000_000);
    const threads = await listThreads();
    const others = [checkpointElsewhere(broken), checkpointElsewhere(path)];
    write(6_000);
    await until(async () => (await length()) > 11_000_000);
    expect(await listThreads()).toBeLessThanOrEqual(threads);
    await first.stop();
    write(6_000);
    await until(async () => (await length()) > 17_000_000);
    await Promise.all(others.map((one) => one.stop()));
    await until(async () => (await listThreads()) < threads);
  });

  it('The checkpoints stop also when the thread has failed', async () => {
    // The log exists, but no thread can open it, because it is not a file.
    const folder = join(dir, 'folder.db');
    await mkdir(folder);
    await writeFile(`${folder}-wal`, Buffer.alloc(5 * 1024 * 1024));
    const checkpoints = checkpointElsewhere(folder);
    await sleep(1_800);
    await checkpoints.stop();
  });

  it('A thread that has failed is started again, and copies what the log has', async () => {
    const log = `${path}-wal`;
    // No thread can open the file now.
    const hidden = join(dir, 'hidden.db');
    write(6_000);
    await rename(path, hidden);
    await mkdir(path);
    const checkpoints = checkpointElsewhere(path);
    await sleep(1_800);
    await rmdir(path);
    await rename(hidden, path);
    await utimes(log, new Date(), new Date());
    await until(async () => (await length()) > 5_000_000);
    await checkpoints.stop();
  });

  it('The checkpoints do not start once they are stopped', async () => {
    const checkpoints = checkpointElsewhere(path);
    write(6_000);
    await checkpoints.stop();
    await sleep(1_500);
    expect(await length()).toBeLessThan(1_000_000);
  });

  it('The checkpoints leave a short log alone and stop at once', async () => {
    const checkpoints = checkpointElsewhere(path);
    write(100);
    await sleep(1_300);
    expect(await length()).toBeLessThan(100_000);
    await checkpoints.stop();
  });
});
