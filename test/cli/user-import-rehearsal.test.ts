import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Cli, cliOn } from '../support/cli.ts';
import { backends, type StoreUrls } from '../support/stores.ts';

const header =
  'sub,email,email_verified,phone_number,phone_number_verified,cognito:mfa_enabled,preferred_username,given_name';
/** Rows in ten transactions, whose ids, addresses, numbers and user names meet within them and between them. */
const total = 1_000;
const toRow = fc
  .record({
    id: fc.nat(700),
    email: fc.nat(600),
    emailVerified: fc.integer({ min: 0, max: 4 }),
    phone: fc.nat(500),
    phoneVerified: fc.boolean(),
    mfa: fc.boolean(),
    username: fc.nat(600),
  })
  .map(({ id, email, emailVerified, phone, phoneVerified, mfa, username }) =>
    [
      `${String(id).padStart(8, '0')}-6d7f-4c7f-8c7f-0123456789ab`,
      `u${email}@example.com`,
      emailVerified > 0,
      phone < 350 ? `+49151${String(phone).padStart(8, '0')}` : '',
      phoneVerified,
      mfa,
      username < 300 ? `name${username}` : '',
      'Ada',
    ].join(','),
  );
const reasons = [
  'refused,"sub: a member here has this id, with another address',
  'refused,"email: another member here has this address',
  'refused,"phone_number: carries the second factor',
  'note,"phone_number: is another member',
  'note,"preferred_username: is another member',
];

describe.each(backends)('a rehearsal of foyer user import on $name', (backend) => {
  let foyer: Cli;
  let urls: StoreUrls;
  let remove: () => Promise<void>;
  let dir: string;
  beforeEach(async () => {
    ({ urls, remove } = await backend.reserve({ migrated: true }));
    foyer = cliOn(urls);
    dir = mkdtempSync(join(tmpdir(), 'foyer-rehearsal-'));
  });
  afterEach(async () => {
    rmSync(dir, { recursive: true, force: true });
    await remove();
  });
  async function importing(rows: readonly string[], ...options: string[]) {
    const [path, report] = [join(dir, 'users.csv'), join(dir, 'report.csv')];
    writeFileSync(path, `${[header, ...rows].join('\n')}\n`);
    const run = await foyer('user', 'import', path, '--report', report, ...options);
    return { lines: run.err.split('\n'), text: run.out, report: readFileSync(report, 'utf8') };
  }
  const counts = ({ text }: { text: string }) =>
    /\d.* rows in .* s: (\S+) (?:would be )?added, (\S+) here already, (\S+) refused/.exec(text)?.slice(1, 4);

  it('The rehearsal has the rows, numbers and reasons of the import, also where rows repeat those far above', async () => {
    const rows = fc.sample(toRow, { numRuns: total, seed: 24 }).flatMap((row, index, all) => {
      const earlier = index % 10 === 0 ? all[index - 200] : undefined;
      // The same row, and then its id with another address.
      return earlier === undefined ? [row] : [row, earlier, earlier.replace(/u\d+@/, `other${index}@`)];
    });
    // Some are members already.
    await importing(rows.filter((_, index) => index % 20 === 7));
    const rehearsed = await importing(rows, '--dry-run');
    const imported = await importing(rows);
    expect(rehearsed.report).toBe(imported.report);
    expect(counts(rehearsed)).toEqual(counts(imported));
    const shown = ({ lines }: { lines: string[] }) => lines.filter((line) => line.startsWith('line '));
    expect(shown(rehearsed)).toEqual(shown(imported));
    expect(shown(imported)).toHaveLength(20);
    for (const why of reasons) expect(imported.report).toContain(why);
  }, 30_000);
});
