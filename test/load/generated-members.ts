import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Generator } from './generator/main.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import { client } from './setting.ts';
import type { Stores } from './stores.ts';

/**
 * Fills the stores with members who have used Foyer for some time. One real member signs in, and a client app gets
 * tokens for them; every row that this leaves is copied for each generated member under new ids. So the rows are those
 * that the product writes, and a new column comes along by itself. Rows that need Stripe are written here.
 */

/** A database that runs one statement at a time. */
interface Sql {
  /** An expression for an id that grows with `i`, as the product's ids grow with the time. */
  id(salt: number): string;
  /** An expression for a value that has no order. */
  random: string;
  /** A table `n` with one column `i`. */
  series(from: number, to: number): string;
  run(text: string): Promise<void>;
  rows(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

function openSqlite(path: string): Sql {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000;');
  return {
    id: (salt) => `printf('019b%04x-%04x-7%03x-8000-%012x', n.i >> 16, n.i & 65535, ${salt}, n.i)`,
    random: 'lower(hex(randomblob(22)))',
    series: (from, to) =>
      `(WITH RECURSIVE s(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM s WHERE i < ${to}) SELECT i FROM s) AS n`,
    run: async (text) => database.exec(text),
    rows: async (text) => database.prepare(text).all(),
    close: async () => {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE); ANALYZE;');
      database.close();
    },
  };
}

async function openPostgres(url: string): Promise<Sql> {
  const client = new pg.Client(url);
  await client.connect();
  const hex = (text: string, digits: number) => `lpad(to_hex(${text}), ${digits}, '0')`;
  return {
    id: (salt) =>
      `('019b' || ${hex('n.i >> 16', 4)} || '-' || ${hex('n.i & 65535', 4)} || '-7${salt.toString(16).padStart(3, '0')}-8000-' || ${hex('n.i', 12)})`,
    random: "replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')",
    series: (from, to) => `generate_series(${from}, ${to}) AS n(i)`,
    run: async (text) => void (await client.query(text)),
    rows: async (text) => (await client.query(text)).rows,
    close: async () => {
      await client.query('VACUUM ANALYZE');
      await client.end();
    },
  };
}

/** The rows of the template in one table, and the columns that differ for each generated member. */
interface Copied {
  table: string;
  /** The column with the member's id. */
  owner?: string;
  columns(sql: Sql): Record<string, string>;
}

const copied: readonly Copied[] = [
  {
    table: 'users',
    owner: 'id',
    columns: ({ id }) => ({
      id: id(0),
      email: "'generated' || n.i || '@example.com'",
      phone: "'+4917' || (100000000 + n.i)",
      created_at: 't.created_at + n.i',
    }),
  },
  { table: 'user_records', columns: ({ id }) => ({ id: id(1), user_id: id(0), stripe_customer_id: "'cus_' || n.i" }) },
  { table: 'connected_apps', columns: ({ id }) => ({ user_id: id(0) }) },
  {
    table: 'client_sessions',
    owner: 'account_id',
    columns: ({ id, random }) => ({ sid: id(4), foyer_session: random, account_id: id(0) }),
  },
  {
    table: 'oidc',
    owner: 'account_id',
    columns: ({ id, random }) => ({ id_hash: random, grant_id: id(5), account_id: id(0), foyer_session: random }),
  },
  {
    table: 'memberships',
    columns: ({ id }) => ({ user_id: id(0), customer_id: "'cus_' || n.i", subscription_id: "'sub_' || n.i" }),
  },
  {
    table: 'orders',
    columns: ({ id }) => ({ id: id(6), user_id: id(0), invoice_id: "'in_' || n.i", customer_id: "'cus_' || n.i" }),
  },
  { table: 'notifications', columns: ({ id }) => ({ id: id(7), user_id: id(0) }) },
  {
    table: 'outbox',
    columns: ({ id, random }) => ({ id: id(8), recipient: random, group_id: id(8) }),
  },
];

const dayMs = 86_400_000;

/** A record, a connected app with its session, a paid plan, its order, a notification and a mail that has left. */
function furtherRows(userId: string, nowMs: number): string[] {
  const until = nowMs + 20 * dayMs;
  return [
    `INSERT INTO user_records (id, user_id, about, additional_attributes, notification_setting, social_media_links, status,
       total_rewards, created_at, updated_at)
     VALUES ('${randomUUID()}', '${userId}', '', '{}', '{}', '{}', 'active', '0', ${nowMs}, ${nowMs})`,
    `INSERT INTO connected_apps (user_id, client_id, scopes, resources, created_at, last_used_at)
     VALUES ('${userId}', '${client.id}', '["openid"]', '{}', ${nowMs}, ${nowMs})`,
    `INSERT INTO client_sessions (sid, foyer_session, client_id, account_id, created_at, expires_at)
     VALUES ('${randomUUID()}', '${randomUUID()}', '${client.id}', '${userId}', ${nowMs}, ${until})`,
    `INSERT INTO memberships (user_id, customer_id, trial_days, subscription_id, generation, status, priced_plan_id,
       period_start, period_end, cancel_at_period_end, paid_plan_id, paid_until, version, synced_at, created_at, updated_at)
     VALUES ('${userId}', 'cus_t', 7, 'sub_t', 0, 'active', '11', ${nowMs}, ${until}, 0, '11', ${until}, 1, ${nowMs}, ${nowMs}, ${nowMs})
     ON CONFLICT (user_id) DO NOTHING`,
    `INSERT INTO orders (id, user_id, invoice_id, customer_id, plan_id, order_purchase, order_type, currency, paid_cents,
       used_credit_cents, discount_cents, recurring_discount_cents, refunded_cents, ordered_at, created_at)
     VALUES ('${randomUUID()}', '${userId}', 'in_t', 'cus_t', '11', 'Starter', 'purchase', 'usd', 9900, 0, 0, 0, 0, ${nowMs}, ${nowMs})`,
    `INSERT INTO notifications (id, user_id, title, description, category, details, status, created_at, updated_at)
     VALUES ('${randomUUID()}', '${userId}', 'Your plan', 'Your plan is paid.', 'billing', '{}', 'unread', ${nowMs}, ${nowMs})`,
    `INSERT INTO outbox (id, channel, template, recipient, group_position, state, attempts, next_attempt_at, created_at, finished_at)
     VALUES ('${userId}', 'mail', 'welcome', '${userId}', 0, 'sent', 1, ${nowMs}, ${nowMs}, ${nowMs})`,
  ];
}

/** Rows in one transaction. */
const batch = 20_000;

async function copyRows(sql: Sql, template: string, count: number): Promise<number> {
  let written = 0;
  for (const { table, owner = 'user_id', columns } of copied) {
    const where = `${table === 'outbox' ? 'id' : owner} = '${template}'`;
    const rows = await sql.rows(`SELECT * FROM ${table} WHERE ${where}`);
    if (rows[0] === undefined) throw new Error(`the template has no row in ${table}`);
    const names = Object.keys(rows[0]);
    const changed = columns(sql);
    const values = names.map((name) => changed[name] ?? `t.${name}`).join(', ');
    const filter = `t.${where}`;
    for (let from = 1; from <= count; from += batch) {
      const series = sql.series(from, Math.min(count, from + batch - 1));
      await sql.run(
        `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values} FROM ${series}, ${table} AS t WHERE ${filter}`,
      );
    }
    written += rows.length * count;
  }
  return written;
}

/** Copies the session of the template, and what else its sign-in has left there. */
async function copySessions({ environment }: Stores, count: number): Promise<void> {
  const { REDIS_URL: url, DATA_DIR: dataDir = '' } = environment;
  if (url) return copySessionsInRedis(url, count);
  const sql = openSqlite(join(dataDir, 'short-lived.db'));
  const key = "substr(t.key, 1, instr(t.key, ':')) || lower(hex(randomblob(22)))";
  await sql.run("CREATE TEMP TABLE template AS SELECT * FROM entries WHERE key LIKE 'session%' OR key LIKE 'oidc:%'");
  for (let from = 1; from <= count; from += batch) {
    const series = sql.series(from, Math.min(count, from + batch - 1));
    await sql.run(
      `INSERT INTO entries (key, value, consumed_at, expires_at)
       SELECT ${key}, t.value, t.consumed_at, t.expires_at + ${dayMs} FROM ${series}, template AS t`,
    );
  }
  await sql.close();
}

/** The same with Redis's own serialization. */
const copyScript = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  if not string.find(key, '#', 1, true) and (string.find(key, 'session') or string.find(key, 'oidc:')) then
    local value, ttl = redis.call('DUMP', key), math.max(0, redis.call('PTTL', key))
    for n = tonumber(ARGV[1]), tonumber(ARGV[2]) do redis.call('RESTORE', key .. '#' .. n, ttl, value) end
  end
end`;

async function copySessionsInRedis(url: string, count: number): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  // KEYS lists the copies too, so few large steps.
  const step = 100_000;
  for (let from = 1; from <= count; from += step)
    await redis.eval(copyScript, 0, from, Math.min(count, from + step - 1));
  await redis.quit();
}

/** Signs the template in and gets tokens for it. */
async function makeTemplate(stores: Stores): Promise<void> {
  const generator = startChild<Generator>('generator/main.ts');
  const foyer = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const { port } = await foyer.start({ members: 1 });
    await generator.openSessions({ side: 'foyer', port, members: 1, atOnce: 1 });
    await generator.authorize({ port, count: 1 });
    await generator.exchange({ port });
  } finally {
    await Promise.all([generator.stop(), foyer.stop()]);
  }
}

/**
 * @param count of generated members, beside the one whom they are copied from
 * @returns the number of rows in the database, and the seconds that it took
 */
export async function generateMembers(stores: Stores, count: number): Promise<{ rows: number; seconds: number }> {
  const beganMs = performance.now();
  await makeTemplate(stores);
  const { DATABASE_URL: url, DATA_DIR: dataDir = '' } = stores.environment;
  const sql = url ? await openPostgres(url) : openSqlite(join(dataDir, 'foyer.db'));
  const template = (await sql.rows('SELECT id FROM users')).map(({ id }) => String(id))[0] ?? '';
  for (const text of furtherRows(template, Date.now())) await sql.run(text);
  const rows = await copyRows(sql, template, count);
  await sql.close();
  await copySessions(stores, count);
  return { rows, seconds: (performance.now() - beganMs) / 1000 };
}
