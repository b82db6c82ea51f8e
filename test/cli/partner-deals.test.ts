import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../server/store/index.ts';
import { findPartnerDeal, findUserByIdentifier } from '../../server/users/index.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { backends, type StoreUrls } from '../support/stores.ts';

describe.each(backends)('foyer partner-deal import on $name', (backend) => {
  let foyer: Cli;
  let urls: StoreUrls;
  let remove: () => Promise<void>;
  let dir: string;
  beforeEach(async () => {
    ({ urls, remove } = await backend.reserve({ migrated: true }));
    foyer = cliOn(urls, {}, () => 1_790_000_000_000);
    dir = mkdtempSync(join(tmpdir(), 'foyer-deals-'));
  });
  afterEach(async () => {
    rmSync(dir, { recursive: true, force: true });
    await remove();
  });

  const file = (text: string) => {
    const path = join(dir, 'deals.csv');
    writeFileSync(path, text);
    return path;
  };
  const importing = (text: string) => foyer('partner-deal', 'import', file(text), '--json');
  async function dealOf(email: string) {
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    try {
      return await findPartnerDeal(database.db, toNormalisedEmail(email));
    } finally {
      await database.close();
    }
  }

  it('The import reads what spreadsheets write and imports nothing twice', async () => {
    const csv =
      '\uFEFFEmail,Name,Tier\r\n Ada@Example.com ,"Lovelace, Ada",2\r\nbob@example.com,Bob,Appsumo-Tier-3\r\n\r\n';
    expect((await importing(csv)).json()).toEqual({ added: 2, changed: 0, kept: 0, offered: 0 });
    expect((await importing(csv)).json()).toEqual({ added: 0, changed: 0, kept: 2, offered: 0 });
    expect((await importing('email,tier\nada@example.com,3\n')).json()).toEqual({
      added: 0,
      changed: 1,
      kept: 0,
      offered: 0,
    });
    expect(await dealOf('ada@example.com')).toEqual({ email: 'ada@example.com', tier: 3, userId: null });
  });

  it('The import offers the plan once to a user who is already a member and changes no current plan', async () => {
    const added = await foyer(
      'user',
      'add',
      '--email',
      'ada@example.com',
      '--password',
      'correct horse 9',
      '--verified',
    );
    expect(added.code).toBe(0);
    const csv = 'email,tier\nada@example.com,2\n';
    expect((await importing(csv)).json()).toMatchObject({ added: 1, offered: 1 });
    expect((await importing(csv)).json()).toMatchObject({ kept: 1, offered: 0 });
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    const member = await findUserByIdentifier(database.db, { email: toNormalisedEmail('ada@example.com') });
    await database.close();
    expect(member).toMatchObject({ source: 'appsumo_update', offeredPlanId: '102', planId: null });
  });

  it('The import adds nothing when anything is wrong and reports every fault with its line', async () => {
    const run = await importing('email,tier\nada@example.com,1\nnobody,2\nbob@example.com,4\nada@example.com,2\n');
    expect(run.code).not.toBe(0);
    expect(run.err).toMatch(/line 3: no e-mail address/);
    expect(run.err).toMatch(/line 4: the column tier/);
    expect(run.err).toMatch(/line 5: ada@example.com has tier 1 further up/);
    expect(await dealOf('ada@example.com')).toBeUndefined();
  });

  it('The import reports what it cannot read', async () => {
    expect((await foyer('partner-deal', 'import', join(dir, 'none.csv'))).err).toMatch(/there is no such file/);
    expect((await importing('email,tier\n"ada@example.com,1\n')).err).toMatch(/quote/i);
  });
});
