import { DatabaseSync } from 'node:sqlite';
import type { Transaction } from 'kysely';
import pg from 'pg';
import { eraseGifts } from '../../server/billing/gifts/gift-store.ts';
import { hasPendingDeletion } from '../../server/billing/jobs/task-store.ts';
import { listOrdersWithMoneyBack } from '../../server/billing/orders/order-store.ts';
import { eraseTrialClaims } from '../../server/billing/personal-data-store.ts';
import { listStuckCharges } from '../../server/billing/purchase/purchase-store.ts';
import {
  listGiftsEnding,
  listMembershipsAfter,
  listOldChanges,
  listPausesBegun,
  listTrialsEnding,
  listUnpaidBefore,
  listYearlyRenewals,
} from '../../server/billing/subscription/due-store.ts';
import { createBoxes } from '../../server/deps.ts';
import { eraseMessagesTo } from '../../server/messages/index.ts';
import type { PlanId, UserId } from '../../server/shared/index.ts';
import { eraseSignUps } from '../../server/sign-up/sign-up-store.ts';
import type { Schema } from '../../server/store/index.ts';
import { listPictureOwners, listUsers } from '../../server/users/index.ts';
import { eraseUserData } from '../../server/users/personal-data-store.ts';
import { toNormalisedEmail, toStripeCustomerId, toUserId } from '../support/ids.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { NOW_MS } from './rows.ts';

const yearly = { yearly: ['11' as PlanId], window: { days: 30, fromMs: 0, untilMs: NOW_MS }, max: 10 };

const boxes = createBoxes(['k'.repeat(48)]);
const erased = { id: toUserId('erased'), email: toNormalisedEmail('erased@example.com'), phone: null };

/** What jobs, operators and erasures look up among the rows of all users. */
const lookUps: [string, (db: Transaction<Schema>) => Promise<unknown>][] = [
  ['users, the oldest first', (db) => listUsers(db, { limit: 10 })],
  ['users after a page', (db) => listUsers(db, { limit: 10, after: { id: erased.id, createdAt: NOW_MS } })],
  ['payments that were abandoned', (db) => listStuckCharges(db, NOW_MS, 10)],
  ['orders with money that went back', (db) => listOrdersWithMoneyBack(db)],
  ['memberships of a page', (db) => listMembershipsAfter(db, '' as UserId, 10)],
  ['changes of an earlier release', (db) => listOldChanges(db, 10)],
  ['unpaid renewals', (db) => listUnpaidBefore(db, NOW_MS, 10)],
  ['pauses that have begun', (db) => listPausesBegun(db, NOW_MS, 10)],
  ['gifts that end', (db) => listGiftsEnding(db, { fromMs: 0, untilMs: NOW_MS, max: 10 })],
  ['gifts that are over', (db) => listGiftsEnding(db, { untilMs: NOW_MS, max: 10 })],
  ['the gifts of an erased user', (db) => eraseGifts(db, erased.id)],
  ['trials that end', (db) => listTrialsEnding(db, 0, NOW_MS)],
  ['the users of uploaded pictures', (db) => listPictureOwners(db, 'a' as UserId, 10)],
  ['yearly renewals', (db) => listYearlyRenewals(db, yearly)],
  ['the customers to be deleted at Stripe', (db) => hasPendingDeletion(db, toStripeCustomerId('cus_1'))],
  ['the messages of an erased user', (db) => eraseMessagesTo(db, boxes.outbox, erased)],
  ['the sign-ups of an erased user', (db) => eraseSignUps(db, erased)],
  ['the trials of an erased user', (db) => eraseTrialClaims(db, erased.id)],
  ['the rows of an erased user', (db) => eraseUserData(db, erased)],
];

/** Not the statements of transactions. */
const isLookUp = (statement: string) => /^\s*(?:select|update|delete)/i.test(statement);

/** The statements that `act` sends to SQLite, as `node:sqlite` gets them. */
async function statementsOnSqlite(act: () => Promise<unknown>): Promise<string[]> {
  const prepare = jest.spyOn(DatabaseSync.prototype, 'prepare');
  try {
    await act();
    return prepare.mock.calls.flatMap(([text]) => (isLookUp(text) ? [text] : []));
  } finally {
    prepare.mockRestore();
  }
}

async function statementsOnPostgres(act: () => Promise<unknown>): Promise<string[]> {
  const query = jest.spyOn(pg.Client.prototype, 'query');
  try {
    await act();
    return query.mock.calls.flatMap(([first]) => {
      const text: unknown = typeof first === 'string' ? first : Reflect.get(Object(first), 'text');
      return typeof text === 'string' && isLookUp(text) ? [text] : [];
    });
  } finally {
    query.mockRestore();
  }
}

function planOnSqlite({ urls }: OpenStores, statement: string): string {
  const database = new DatabaseSync(`${urls.dataDir}/foyer.db`, { readOnly: true });
  try {
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all();
    return rows.map(({ detail }) => String(detail)).join('\n');
  } finally {
    database.close();
  }
}

/** Of any values, as a database with many rows would choose: where an index is of use, it is used. */
async function planOnPostgres({ urls }: OpenStores, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: urls.databaseUrl });
  await client.connect();
  try {
    await client.query('set enable_seqscan = off');
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare looked_up as ${statement}`);
    const count = new Set(statement.match(/\$\d+/g)).size;
    const values = count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(', ')})`;
    const { rows } = await client.query(`explain execute looked_up${values}`);
    return rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN'])).join('\n');
  } finally {
    await client.end();
  }
}

describe.each(backends)('query plans on $name', (backend) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.destroy());

  it.each(lookUps)('Of all rows, %s are found by an index', async (_what, lookUp) => {
    const isSqlite = backend.name.startsWith('SQLite');
    const act = () => stores.database.transaction(lookUp);
    const statements = await (isSqlite ? statementsOnSqlite(act) : statementsOnPostgres(act));
    expect(statements.length).toBeGreaterThan(0);
    for (const statement of statements) {
      const plan = await (isSqlite ? planOnSqlite : planOnPostgres)(stores, statement);
      // SQLite says SCAN for a whole table, and SCAN … USING INDEX for the rows of an index in its order.
      const scans = plan.split('\n').filter((line) => /^SCAN (?!.*USING .*INDEX)|Seq Scan/.test(line));
      expect([statement, scans]).toEqual([statement, []]);
    }
  });
});
