import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { openDatabase } from '../../server/store/index.ts';
import { type Cli, cliOn, cliSecretKey } from '../support/cli.ts';
import { backends, type StoreUrls } from '../support/stores.ts';

const nowMs = 1_790_000_000_000;
const subOf = (n: number) => `${String(n).padStart(8, '0')}-4c7f-4c7f-8c7f-0123456789ab`;
/** What `aws cognito-idp get-csv-header` answers, and the custom attributes and the sub behind it. */
const header =
  'name,given_name,family_name,middle_name,nickname,preferred_username,profile,picture,website,email,email_verified,gender,birthdate,zoneinfo,locale,phone_number,phone_number_verified,address,updated_at,cognito:mfa_enabled,cognito:username,custom:newsletter,custom:tos_signed,custom:tos_version,custom:companyName,custom:jobTitle,sub';

describe.each(backends)('foyer user import on $name', (backend) => {
  let foyer: Cli;
  let urls: StoreUrls;
  let remove: () => Promise<void>;
  let dir: string;
  beforeEach(async () => {
    ({ urls, remove } = await backend.reserve({ migrated: true }));
    foyer = cliOn(urls, {}, () => nowMs);
    dir = mkdtempSync(join(tmpdir(), 'foyer-import-'));
  });
  afterEach(async () => {
    rmSync(dir, { recursive: true, force: true });
    await remove();
  });
  const file = (text: string, name = 'users.csv') => {
    const path = join(dir, name);
    writeFileSync(path, text);
    return path;
  };
  const importing = (text: string, name?: string, ...options: string[]) =>
    foyer('user', 'import', file(text, name), '--json', ...options);
  async function rows() {
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    try {
      const users = await database.db.selectFrom('users').selectAll().orderBy('id').execute();
      const records = await database.db.selectFrom('userRecords').selectAll().orderBy('userId').execute();
      return { users, records };
    } finally {
      await database.close();
    }
  }

  it('The import takes what a Cognito pool knows of a user, under the id from that pool', async () => {
    const row = `Ada King,Ada,Lovelace,,,,,https://media.example.com/ada.png,,Ada@Example.com,true,female,1990-12-31,Europe/London,en-GB,+447911123456,TRUE,"1 St James's Sq, London",1600000000,true,${subOf(1)},true,true,7,"Analytical, Ltd",Engineer,${subOf(1)}`;
    const csv = `\uFEFF${header}\r\n${row}\r\n\r\n`;
    const run = await importing(csv);
    expect(run).toMatchObject({ code: 0, err: '' });
    expect(run.json()).toMatchObject({
      rows: 1,
      added: 1,
      there: 0,
      refused: 0,
      withoutPassword: 1,
      dryRun: false,
      ignored: ['updated_at'],
    });
    const { users, records } = await rows();
    expect(users).toEqual([
      {
        id: subOf(1),
        email: 'ada@example.com',
        emailVerified: 1,
        phone: '+447911123456',
        phoneVerified: 1,
        phoneChangedAt: null,
        passwordHash: null,
        passwordProfile: null,
        passwordEpoch: 0,
        signedInEpoch: null,
        givenName: 'Ada',
        familyName: 'Lovelace',
        locale: 'en',
        // No later version than the one in force.
        acceptedTosVersion: 1,
        acceptedTosAt: null,
        source: 'general',
        planId: null,
        trialUntil: null,
        offeredPlanId: null,
        dealAgainAt: null,
        picture: 'https://media.example.com/ada.png',
        birthdate: '1990-12-31',
        address: "1 St James's Sq, London",
        companyName: 'Analytical, Ltd',
        jobTitle: 'Engineer',
        preferredLanguage: null,
        preferredUsername: null,
        zoneinfo: 'Europe/London',
        nickname: null,
        middleName: null,
        passwordChangedAt: null,
        website: null,
        profileUrl: null,
        gender: '1',
        newsletter: 1,
        mfaPreference: 'sms',
        seats: null,
        secondFactorRequired: 0,
        disabledAt: null,
        importedAt: nowMs,
        createdAt: nowMs,
        updatedAt: nowMs,
      },
    ]);
    expect(records).toEqual([expect.objectContaining({ userId: subOf(1), status: 'active', totalRewards: '5' })]);
    expect((await foyer('user', 'show', subOf(1))).out).toContain('Imported');
    expect((await importing(csv)).json()).toMatchObject({ added: 0, there: 1, refused: 0 });
  });

  it('The import reads the output of aws cognito-idp list-users, lists, and one object after the other', async () => {
    const user = (n: number, more: object = {}) => ({
      Username: subOf(n),
      Attributes: [
        { Name: 'sub', Value: subOf(n) },
        { Name: 'email', Value: `u${n}@example.com` },
        { Name: 'email_verified', Value: 'true' },
        { Name: 'given_name', Value: 'Zoë "Z" {n}' },
      ],
      UserCreateDate: '2021-03-04T10:11:12.123000+01:00',
      Enabled: true,
      UserStatus: 'CONFIRMED',
      ...more,
    });
    const ofAws = JSON.stringify({ Users: [user(1), user(2, { Enabled: false })], PaginationToken: 'x]}' }, null, 4);
    expect((await importing(ofAws, 'users.json')).json()).toMatchObject({ rows: 2, added: 2 });
    expect((await importing(JSON.stringify([user(3)]), 'list.json')).json()).toMatchObject({ rows: 1, added: 1 });
    const plain = [4, 5].map((n) =>
      JSON.stringify({ sub: subOf(n), email: `u${n}@example.com`, email_verified: true }),
    );
    expect((await importing(`${plain.join('\n')}\n`, 'list.ndjson')).json()).toMatchObject({ rows: 2, added: 2 });
    expect((await importing(`${plain.join('\n')}\n`, 'list.txt', '--format', 'json')).json()).toMatchObject({
      there: 2,
    });
    const { users } = await rows();
    expect(users.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5].map(subOf));
    expect(users[0]).toMatchObject({ givenName: 'Zoë "Z" {n}', createdAt: Date.UTC(2021, 2, 4, 9, 11, 12, 123) });
    expect(users.map(({ disabledAt }) => disabledAt !== null)).toEqual([false, true, false, false, false]);
    expect((await importing('[]', 'none.json')).json()).toMatchObject({ rows: 0 });
  });

  it('The import keeps hashes as they are, but none of a user whose address is not verified', async () => {
    const hash = await bcrypt('correct horse 9', { cost: 4 });
    const csv = [
      'sub,email,email_verified,phone_number,phone_number_verified,password_hash',
      `${subOf(1)},a@example.com,true,,,${hash}`,
      `${subOf(2)},b@example.com,false,+447911123456,true,${hash}`,
      `${subOf(3)},c@example.com,,,,${hash}`,
      `${subOf(4)},d@example.com,true,,,$1$old$qjXMvbEw8oaL.CzflDtaK/`,
      `${subOf(5)},e@example.com,true,,,${hash.replace('$04$', '$31$')}`,
    ].join('\n');
    const report = join(dir, 'report.csv');
    const run = await importing(csv, 'users.csv', '--report', report);
    expect(run.code).toBe(1);
    expect(run.json()).toMatchObject({ added: 3, refused: 2, notes: 2, withoutPassword: 2 });
    const { users } = await rows();
    expect(users).toMatchObject([
      { passwordHash: hash, passwordProfile: 'bcrypt$04', emailVerified: 1 },
      { passwordHash: null, phone: null, emailVerified: 0 },
      { passwordHash: null, emailVerified: 0 },
    ]);
    const lines = readFileSync(report, 'utf8').split('\n');
    expect(lines[0]).toBe('line,sub,kind,why');
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(`^5,${subOf(4)},refused,"password_hash: is of a kind`),
        expect.stringMatching(`^6,${subOf(5)},refused,"password_hash: its work factor`),
      ]),
    );
    expect(statSync(report).mode & 0o777).toBe(0o600);
    for (const text of [run.out, run.err, lines.join()]) {
      for (const secret of [hash, hash.slice(7), 'qjXMvbEw8oaL', '@example.com']) expect(text).not.toContain(secret);
    }
    // The operator vouches for those of whom nothing is said, and for none of whom it is said otherwise.
    const vouched = csv.replaceAll('example.com', 'example.net').replace(/^0/gm, '9');
    expect((await importing(vouched, 'more.csv', '--verified')).json()).toMatchObject({ added: 3, withoutPassword: 1 });
    const without = csv.replaceAll('example.com', 'example.org').replace(/^0/gm, '8');
    expect((await importing(without, 'last.csv', '--ignore-hashes')).json()).toMatchObject({
      added: 5,
      withoutPassword: 5,
    });
  });

  it('The import leaves out optional values that are wrong and reports them, and refuses required values that are wrong', async () => {
    const csv = [
      'sub,email,email_verified,given_name,birthdate,picture,phone_number,phone_number_verified,cognito:mfa_enabled,custom:newsletter',
      `${subOf(1)},a@example.com,true,A\u0007da,31.12.1990,javascript:alert(1),0791,true,true,perhaps`,
      ',b@example.com,true,,,,,,,',
      'two words,c@example.com,true,,,,,,,',
      `${subOf(4)},no-address,true,,,,,,,`,
      `${subOf(5)},e@example.com,true,,,,,,`,
    ].join('\n');
    const report = join(dir, 'report.csv');
    const run = await foyer('user', 'import', file(csv), '--report', report);
    expect(run.code).toBe(1);
    expect(run.out).toContain('5 rows in');
    expect(run.out).toContain('1 added, 0 here already, 4 refused.');
    expect(run.err).toMatch(/^line 3: sub: there is none/m);
    expect(run.err).toMatch(/^line 4: sub: there is none, or it has characters/m);
    expect(run.err).toMatch(new RegExp(`^line 5 \\(${subOf(4)}\\): email: there is none`, 'm'));
    expect(run.err).toMatch(/^line 6: has 9 cells, the first line has 10$/m);
    const notes = readFileSync(report, 'utf8')
      .split('\n')
      .filter((line) => line.includes(',note,'));
    for (const name of ['given_name', 'birthdate', 'picture', 'phone_number', 'second factor', 'custom:newsletter']) {
      expect(notes.filter((line) => line.includes(`"${name}: `))).toHaveLength(1);
    }
    expect((await rows()).users).toMatchObject([
      { givenName: '', birthdate: null, picture: null, phone: null, mfaPreference: 'none', newsletter: 0 },
    ]);
  });

  it('The dry run reports the result of each row, also of rows that conflict, and changes nothing', async () => {
    await importing(`sub,email,email_verified\n${subOf(1)},a@example.com,true\n`);
    const lines = Array.from({ length: 250 }, (_, n) => `${subOf(n + 100)},n${n}@example.com,true`);
    const csv = [
      'sub,email,email_verified',
      ...lines,
      `${subOf(1)},a@example.com,true`,
      `${subOf(1)},other@example.com,true`,
      // In another batch than the row that it repeats.
      `${subOf(2)},n0@example.com,true`,
      lines[0],
    ].join('\n');
    const before = await rows();
    const dry = await importing(csv, 'users.csv', '--dry-run');
    expect(await rows()).toEqual(before);
    expect(dry.json()).toMatchObject({ dryRun: true, rows: 254, added: 250, there: 2, refused: 2 });
    const real = (await importing(csv)).json();
    expect({ ...dry.json(), seconds: 0, dryRun: false }).toEqual({ ...real, seconds: 0 });
  });

  it('An import that was killed and started again loses no user and doubles none', async () => {
    const total = 1_500;
    const csv = Array.from({ length: total }, (_, n) => `${subOf(n)},n${n}@example.com,true,Ada,Member${n}`);
    const path = file(`sub,email,email_verified,given_name,family_name\n${csv.join('\n')}\n`);
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../dist/server/cli/main.js'), 'user', 'import', path, '--json'],
      {
        stdio: 'ignore',
        env: {
          PATH: process.env.PATH,
          DATABASE_URL: urls.databaseUrl,
          REDIS_URL: urls.redisUrl,
          DATA_DIR: urls.dataDir,
          SECRET_KEY: cliSecretKey,
          NODE_ENV: 'development',
        },
      },
    );
    const ended = new Promise((resolve) => child.once('close', resolve));
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    const count = async (table: 'users' | 'userRecords') =>
      Number(
        (
          await database.db
            .selectFrom(table)
            .select(({ fn }) => fn.countAll().as('n'))
            .executeTakeFirstOrThrow()
        ).n,
      );
    try {
      while ((await count('users')) < 200 && child.exitCode === null) await sleep(2);
      child.kill('SIGKILL');
      await ended;
      const half = await count('users');
      expect(half).toBeGreaterThanOrEqual(200);
      expect(half).toBeLessThan(total);
      // What is there is whole.
      expect(await count('userRecords')).toBe(half);
      const again = await foyer('user', 'import', path, '--json');
      expect(again.json()).toMatchObject({ rows: total, added: total - half, there: half, refused: 0 });
      const ids = await database.db.selectFrom('users').select('id').orderBy('id').execute();
      expect(ids.map(({ id }) => id)).toEqual(Array.from({ length: total }, (_, n) => subOf(n)));
      expect(await count('userRecords')).toBe(total);
    } finally {
      await database.close();
    }
  }, 60_000);

  it('Two imports at once add each user once', async () => {
    const csv = Array.from({ length: 600 }, (_, n) => `${subOf(n)},n${n}@example.com,true`);
    const path = file(`sub,email,email_verified\n${csv.join('\n')}\n`);
    const runs = await Promise.all([1, 2].map(() => foyer('user', 'import', path, '--json')));
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    const counts = runs.map((run) => run.json<{ added: number; there: number }>());
    expect(counts.reduce((sum, { added }) => sum + added, 0)).toBe(600);
    expect(counts.reduce((sum, { there }) => sum + there, 0)).toBe(600);
    expect((await rows()).records).toHaveLength(600);
  });
});
