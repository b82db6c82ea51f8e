/** A separate process that records and seals events; `recorders.ts` starts and kills it. */
import { recordEntry, sealAll, toAuditKeys } from '../../server/audit/index.ts';
import { openDatabase } from '../../server/store/index.ts';

const [databaseUrl = '', dataDir = '', secret = ''] = process.argv.slice(2);
const database = await openDatabase({ url: databaseUrl, dataDir });
const keys = toAuditKeys([secret]);

async function record(): Promise<void> {
  for (let n = 0; ; n += 1) {
    const name = `${process.pid}-${n}`;
    await database.transaction((trx) =>
      recordEntry(trx, { type: 'app.connected', details: { scopes: [name] }, atMs: Date.now() }),
    );
    process.send?.(name);
  }
}

async function seal(): Promise<void> {
  for (;;) {
    await sealAll(database, keys, Date.now());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

await Promise.all([record(), seal()]);
