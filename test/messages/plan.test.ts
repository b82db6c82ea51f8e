import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, KyselyPlugin } from 'kysely';
import { createOutbox } from '../../server/messages/outbox.ts';
import { countQueued, dueMessages } from '../../server/messages/outbox-store.ts';
import { anyBackend, type OpenStores } from '../support/stores.ts';
import { box, notice } from './outbox-setup.ts';

let stores: OpenStores;
beforeAll(async () => {
  stores = await anyBackend.open();
});
afterAll(() => stores?.destroy());

it('The queries of every second read only waiting rows, however many rows are kept, as the plans of SQLite show', async () => {
  const { db } = stores.database;
  const queries: CompiledQuery[] = [];
  const overhear: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      queries.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const watched = db.withPlugin(overhear);
  await dueMessages(watched, { channel: 'mail', nowMs: 1, limit: 8, except: ['a'] });
  await countQueued(watched);
  const outbox = createOutbox({ box, now: () => 1 });
  await watched.transaction().execute((trx) => outbox.add(trx, notice('x', { groupId: 'g' })));

  const selects = queries.filter(({ sql }) => sql.startsWith('select'));
  expect(selects).toHaveLength(3);
  const file = new DatabaseSync(join(stores.urls.dataDir, 'foyer.db'));
  try {
    const plans = selects.map(({ sql, parameters }) =>
      file.prepare(`explain query plan ${sql}`).all(...(parameters as SQLInputValue[])),
    );
    const reads = plans.flat().flatMap(({ detail }) => (/^(SCAN|SEARCH)/.test(String(detail)) ? [detail] : []));
    expect(reads).toHaveLength(4);
    for (const read of reads) expect(read).toMatch(/ USING (COVERING )?INDEX outbox_waiting/);
  } finally {
    file.close();
  }
});
