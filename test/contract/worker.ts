/** A separate process that shares the stores with the test; `processes.ts` starts it and sends its tasks. */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { migrate, openDatabase, openKeyValue } from '../../server/store/index.ts';
import type { Answer, Task } from './processes.ts';

const [databaseUrl = '', redisUrl = '', dataDir = ''] = process.argv.slice(2);
const database = await openDatabase({ url: databaseUrl, dataDir });
const kv = await openKeyValue({ url: redisUrl, dataDir });

process.on('message', async (task: Task) => {
  process.send?.(await carryOut(task));
});
// The process is killed, so it could not write Node's compile cache.
flushCompileCache();
const ready: Answer = { result: 'ready' };
process.send?.(ready);

async function carryOut(task: Task): Promise<Answer> {
  try {
    return { result: await perform(task) };
  } catch (error) {
    return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}

function perform({ name, key, count }: Task): Promise<unknown> {
  switch (name) {
    case 'take':
      return allAtOnce(count, () => kv.takeOnce(key));
    case 'consume':
      return allAtOnce(count, async () => (await kv.consume(key)).state);
    case 'setIfAbsent':
      return allAtOnce(count, () => kv.setIfAbsent(key, String(process.pid), 60_000));
    case 'compareAndDelete':
      return allAtOnce(count, () => kv.compareAndDelete(key, 'value'));
    case 'increment':
      return allAtOnce(count, async () => (await kv.consumeCount(key, 60_000)).count);
    case 'addToSet':
      return allAtOnce(count, (index) => kv.addToSet(key, `${process.pid}-${index}`, 60_000));
    case 'migrate':
      return migrate(database).then(({ applied }) => applied);
    case 'transactions':
      return allAtOnce(count, (index) => readThenWrite(key, index));
    case 'writes':
      return allAtOnce(count, (index) => insertFact(`${key}:${process.pid}:${index}`));
    case 'holdWriteLock':
      return holdWriteLock(join(dataDir, key), count);
  }
}

function allAtOnce<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => work(index)));
}

/** Reads and then writes: a plain BEGIN fails here if another process wrote in between. */
async function readThenWrite(key: string, index: number): Promise<void> {
  await database.transaction(async (trx) => {
    await trx.selectFrom('meta').select('value').where('name', '=', key).executeTakeFirst();
    await trx
      .insertInto('meta')
      .values({ name: `${key}:${process.pid}:${index}`, value: '1' })
      .execute();
    await trx
      .updateTable('meta')
      .set({ value: sql<string>`cast(cast(value as integer) + 1 as text)` })
      .where('name', '=', key)
      .execute();
  });
}

async function insertFact(name: string): Promise<void> {
  await database.db.insertInto('meta').values({ name, value: '1' }).execute();
}

/** Takes the write lock of a SQLite file, reports it, and releases it after `durationMs`. */
async function holdWriteLock(path: string, durationMs: number): Promise<void> {
  const file = new DatabaseSync(path);
  file.exec('BEGIN IMMEDIATE');
  const holding: Answer = { result: 'holding' };
  process.send?.(holding);
  await sleep(durationMs);
  file.exec('COMMIT');
  file.close();
}
