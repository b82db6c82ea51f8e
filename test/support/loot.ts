import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import type { OpenStores } from './stores.ts';

/** Everything that a thief of both stores finds, as one text. */
export async function loot({ database, urls }: OpenStores): Promise<string> {
  const found: string[] = [];
  for (const file of readdirSync(urls.dataDir)) found.push(readFileSync(join(urls.dataDir, file), 'latin1'));
  if (database.kind === 'postgres') {
    const db = database.db.withoutPlugins();
    const tables = await sql<{ name: string }>`
      select table_name as name from information_schema.tables where table_schema = 'public'
    `.execute(db);
    for (const { name } of tables.rows) {
      found.push(JSON.stringify((await sql`select * from ${sql.table(name)}`.execute(db)).rows));
    }
  }
  if (urls.redisUrl !== '') {
    const url = new URL(urls.redisUrl);
    const prefix = url.searchParams.get('prefix') ?? '';
    url.search = '';
    const redis = new Redis(url.href);
    for (const key of await redis.keys(`${prefix}*`)) {
      const value = (await redis.type(key)) === 'set' ? (await redis.smembers(key)).join(' ') : await redis.get(key);
      found.push(`${key} ${value}`);
    }
    redis.disconnect();
  }
  return found.join('\n');
}
