import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../server/store/index.ts';
import { cliOn } from '../support/cli.ts';
import { anyBackend, type StoreUrls } from '../support/stores.ts';

const subOf = (n: number) => `${String(n).padStart(8, '0')}-4c7f-4c7f-8c7f-0123456789ab`;
const allFields = { PROFILE_FIELDS: 'nickname,middle_name,website,profile' };

describe('standard claims in the export of a Cognito pool', () => {
  let urls: StoreUrls;
  let remove: () => Promise<void>;
  let dir: string;
  beforeEach(async () => {
    ({ urls, remove } = await anyBackend.reserve({ migrated: true }));
    dir = mkdtempSync(join(tmpdir(), 'foyer-import-claims-'));
  });
  afterEach(async () => {
    rmSync(dir, { recursive: true, force: true });
    await remove();
  });
  /** Imports members with these attributes, as `aws cognito-idp list-users` writes them. */
  async function importing(members: Record<string, string>[], options: string[] = [], environment = {}) {
    const users = members.map((attributes, index) => ({
      Username: subOf(index),
      Enabled: true,
      UserStatus: 'CONFIRMED',
      Attributes: Object.entries({
        sub: subOf(index),
        email: `u${index}@example.com`,
        email_verified: 'true',
        ...attributes,
      }).map(([Name, Value]) => ({ Name, Value })),
    }));
    writeFileSync(join(dir, 'users.json'), JSON.stringify({ Users: users }));
    const report = join(dir, 'report.csv');
    const args = [join(dir, 'users.json'), '--json', '--report', report, ...options];
    const run = await cliOn(urls, environment)('user', 'import', ...args);
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    try {
      const select = database.db.selectFrom('users').orderBy('id');
      const rows = await select
        .select(['preferredUsername', 'zoneinfo', 'nickname', 'middleName', 'website', 'profileUrl'])
        .execute();
      return { run, rows, report: readFileSync(report, 'utf8') };
    } finally {
      await database.close();
    }
  }
  const claims = {
    preferred_username: 'Ada.Lovelace',
    zoneinfo: 'Europe/London',
    nickname: 'Ada',
    middle_name: 'King',
    website: 'https://ada.example.com',
    profile: 'https://people.example.com/ada',
  };

  it('The import takes over the claims of fields that the product has and the operator has switched on', async () => {
    const { run, rows } = await importing([claims], [], allFields);
    expect(run.json()).toMatchObject({ added: 1, notes: 0, ignored: [] });
    expect(rows).toEqual([
      {
        preferredUsername: 'ada.lovelace',
        zoneinfo: 'Europe/London',
        nickname: 'Ada',
        middleName: 'King',
        website: 'https://ada.example.com',
        profileUrl: 'https://people.example.com/ada',
      },
    ]);
  });

  it('Fields that the operator has not switched on are named as not taken over', async () => {
    const { run, rows } = await importing([claims]);
    expect(run.json()).toMatchObject({ added: 1, ignored: ['nickname', 'middle_name', 'website', 'profile'] });
    expect(rows).toEqual([
      expect.objectContaining({ preferredUsername: 'ada.lovelace', zoneinfo: 'Europe/London', website: null }),
    ]);
  });

  it('A value that a member could not type either is left out with a note, and the member is imported', async () => {
    const wrong = { preferred_username: 'admin', zoneinfo: 'Mars/Olympus', website: 'javascript:alert(1)' };
    const { run, rows, report } = await importing([wrong], [], allFields);
    expect(run.json()).toMatchObject({ added: 1, notes: 3 });
    expect(rows).toEqual([expect.objectContaining({ preferredUsername: null, zoneinfo: null, website: null })]);
    for (const name of Object.keys(wrong)) expect(report).toContain(`${name}: does not fit the rules of this field`);
  });

  it('Of two members with one username the first has it, and a rehearsal reports the same', async () => {
    const twice = [{ preferred_username: 'ada' }, { preferred_username: 'ADA' }];
    const rehearsal = await importing(twice, ['--dry-run']);
    expect(rehearsal.rows).toEqual([]);
    const { run, rows, report } = await importing(twice);
    expect(report).toBe(rehearsal.report);
    expect(report).toContain(`${subOf(1)},note,"preferred_username: is another member’s here; left out"`);
    expect(run.json()).toMatchObject({ added: 2, notes: 1 });
    expect(rows.map(({ preferredUsername }) => preferredUsername)).toEqual(['ada', null]);
  });

  it('A member here keeps the username that an imported member has, too', async () => {
    await importing([{ preferred_username: 'ada' }]);
    const { report, rows } = await importing([{ preferred_username: 'ada' }, { preferred_username: 'ada' }]);
    expect(report).toContain('preferred_username: is another member’s here');
    expect(rows.map(({ preferredUsername }) => preferredUsername)).toEqual(['ada', null]);
  });
});
