import { createHmac, hkdfSync } from 'node:crypto';
import { openDatabase } from '../../server/store/index.ts';
import { findUserRecord } from '../../server/users/index.ts';
import { type Cli, cliOn, cliSecretKey } from '../support/cli.ts';
import { toNormalisedEmail, toPlanId, toUserId } from '../support/ids.ts';
import { backends, type StoreUrls } from '../support/stores.ts';

const ada = ['--email', 'Ada@Example.com', '--given-name', 'Ada', '--family-name', 'Lovelace'];
const secret = ['--password', 'open sesame 7'];

describe.each(backends)('foyer user on $name', (backend) => {
  let foyer: Cli;
  let urls: StoreUrls;
  let remove: () => Promise<void>;
  let now: number;
  beforeEach(async () => {
    ({ urls, remove } = await backend.reserve({ migrated: true }));
    now = Date.UTC(2026, 10, 21, 9, 30);
    foyer = cliOn(urls, {}, () => now);
  });
  afterEach(() => remove());

  it('Adding a user prints the user in claim names, without the password or its hash', async () => {
    const run = await foyer(
      'user',
      'add',
      ...ada,
      ...secret,
      '--phone',
      '+41 79 123-45-67',
      '--verified',
      '--accept-terms',
      '--json',
    );
    expect(run).toMatchObject({ code: 0, err: '' });
    const at = Date.UTC(2026, 10, 21, 9, 30) / 1000;
    expect(run.json()).toEqual({
      sub: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      email: 'ada@example.com',
      email_verified: true,
      phone_number: '+41791234567',
      phone_number_verified: true,
      locale: 'en',
      updated_at: at,
      created_at: at,
      disabled: false,
      tos_version: 1,
      entitlements: [],
    });
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    const record = await findUserRecord(database.db, toUserId(String(run.json().sub))).finally(() => database.close());
    expect(record).toMatchObject({ userId: run.json().sub, totalRewards: '5' });
  });

  it('Adding a user without --verified and --accept-terms confirms nothing', async () => {
    const run = await foyer('user', 'add', ...ada, ...secret, '--phone', '+41791234567');
    expect(run.code).toBe(0);
    expect(run.out).toMatch(/not confirmed: signing in waits for that/);
    expect((await foyer('user', 'show', 'ada@example.com', '--json')).json()).toMatchObject({
      email_verified: false,
      phone_number_verified: false,
      tos_version: null,
      sessions: 0,
      grants: 0,
    });
  });

  it('Adding a faulty user lists every fault at once, exits with 1 and adds no user', async () => {
    const run = await foyer(
      'user',
      'add',
      '--email',
      'ada@',
      '--phone',
      '079 123',
      '--password',
      'adalove',
      '--given-name',
      'Ada',
      '--family-name',
      'L\u0007',
    );
    expect({ code: run.code, out: run.out }).toEqual({ code: 1, out: '' });
    expect(run.err.split('\n').slice(0, -1)).toEqual([
      'Refused, 6 faults:',
      '  - email ada@: is not an e-mail address',
      '  - phone 079 123: write + and the digits with the country code, as in +41791234567',
      '  - family-name: write at most 100 characters, no control characters',
      '  - password: must have at least 8 characters',
      '  - password: must contain a number or a symbol',
      '  - password: must not contain the given name, the family name or the e-mail address',
    ]);
    expect((await foyer('user', 'list')).out).toBe('No members.\n');
  });

  it('A faulty password is never repeated', async () => {
    const run = await foyer('user', 'add', ...ada, '--password', 'hunter2');
    expect(run.code).toBe(1);
    expect(run.out + run.err).not.toContain('hunter2');
  });

  it('Addresses and numbers that are taken are refused', async () => {
    await foyer('user', 'add', ...ada, ...secret, '--phone', '+41791234567');
    expect(await foyer('user', 'add', '--email', 'ADA@example.com', ...secret)).toMatchObject({
      code: 1,
      err: 'Refused:\n  - email ada@example.com: another member has it already\n',
    });
    expect(
      await foyer('user', 'add', '--email', 'eve@example.com', ...secret, '--phone', '+41 79 123 45 67'),
    ).toMatchObject({
      code: 1,
      err: 'Refused:\n  - phone +41791234567: another member has it already\n',
    });
    expect((await foyer('user', 'list', '--json')).json<unknown[]>()).toHaveLength(1);
  });

  it('Adding one address twenty times at once creates one user', async () => {
    const runs = await Promise.all(Array.from({ length: 20 }, () => foyer('user', 'add', ...ada, ...secret)));
    expect(runs.map(({ code }) => code).sort()).toEqual([0, ...Array<number>(19).fill(1)]);
    for (const { code, err } of runs) if (code === 1) expect(err).toContain('another member has it already');
  });

  it('The option --password-stdin reads the whole input without the line end that echo adds', async () => {
    const hashOf = async (email: string) => {
      const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
      const row = await database.db
        .selectFrom('users')
        .select('passwordHash')
        .where('email', '=', toNormalisedEmail(email))
        .executeTakeFirstOrThrow();
      await database.close();
      return row.passwordHash ?? '';
    };
    const { verify } = await import('@node-rs/argon2');
    const key = Buffer.from(hkdfSync('sha256', cliSecretKey, 'foyer', 'passwords', 32));
    const fits = (hash: string, typed: string) =>
      verify(hash.slice(hash.indexOf('$argon2id$')), createHmac('sha256', key).update(typed).digest('base64'));
    expect(await foyer.withInput(['open ses', 'ame ü7 \r\n'], 'user', 'add', ...ada, '--password-stdin')).toMatchObject(
      { code: 0 },
    );
    const hash = await hashOf('ada@example.com');
    expect(hash).toMatch(/^\$hmac-sha256\$k=[\w-]{8}\$argon2id\$/);
    expect(await fits(hash, 'open sesame ü7 ')).toBe(true);
    expect(await fits(hash, 'open sesame ü7')).toBe(false);
    expect(await foyer.withInput('\n', 'user', 'add', '--email', 'b@example.com', '--password-stdin')).toMatchObject({
      code: 1,
    });
    expect(
      await foyer.withInput('open\nsesame 7', 'user', 'add', '--email', 'b@example.com', '--password-stdin'),
    ).toMatchObject({ code: 1 });
  });

  it('Listing shows one page at a time and notes on standard error that there are more', async () => {
    for (const name of ['a', 'b', 'c']) {
      await foyer('user', 'add', '--email', `${name}@example.com`, ...secret);
      now += 1;
    }
    const emails = (json: { email: string }[]) => json.map(({ email }) => email);
    const first = await foyer('user', 'list', '--limit', '2', '--json');
    expect(emails(first.json())).toEqual(['a@example.com', 'b@example.com']);
    const last = first.json<{ sub: string }[]>()[1]?.sub ?? '';
    expect(first.err).toBe(`There are more: --after ${last}\n`);
    const second = await foyer('user', 'list', '--limit', '2', '--after', last, '--json');
    expect(emails(second.json())).toEqual(['c@example.com']);
    expect(second.err).toBe('');
    expect((await foyer('user', 'list')).out.split('\n')[1]).toMatch(
      /^a@example\.com {2}- {5}- {6}not confirmed {2}2026-11-21 09:30:00 UTC {2}[0-9a-f-]{36}$/,
    );
  });

  it('Pages of users who were added in the same millisecond, as by an import, have each user once', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await foyer('user', 'add', '--email', `${name}@example.com`, ...secret);
    const seen: string[] = [];
    for (let after: string[] = [], pages = 0; pages < 3; pages += 1) {
      const page = (await foyer('user', 'list', '--limit', '2', ...after, '--json')).json<{ email: string }[]>();
      seen.push(...page.map(({ email }) => email));
      after = ['--after', seen.at(-1) ?? ''];
    }
    expect(seen.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.com`));
    expect(await foyer('user', 'list', '--after', 'unknown@example.com')).toMatchObject({ code: 3 });
  });

  it('Commands find a user by address, verified number or id', async () => {
    const { sub } = (
      await foyer('user', 'add', ...ada, ...secret, '--phone', '+41791234567', '--verified', '--json')
    ).json<{ sub: string }>();
    for (const who of ['ADA@example.com', '+41 79 123 45 67', sub, sub.toUpperCase()]) {
      expect((await foyer('user', 'show', who, '--json')).json()).toMatchObject({ sub });
    }
    expect((await foyer('user', 'show', sub)).out).toMatch(/^Sessions {2}0 open\nGrants {4}0 to client apps$/m);
  });

  it('Showing a user names the plan, the end of a trial and what both give', async () => {
    const { sub } = (await foyer('user', 'add', ...ada, ...secret, '--json')).json<{ sub: string }>();
    const show = async () => (await foyer('user', 'show', sub)).out;
    expect(await show()).toMatch(/^Plan {6}none\nGives {5}none$/m);
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    await database.db
      .updateTable('users')
      .set({ planId: toPlanId('1'), trialUntil: now + 1 })
      .execute();
    await database.close();
    expect(await show()).toMatch(
      /^Plan {6}Free \(1, m-free\), trial until 2026-11-21 09:30:00 UTC\nGives {5}profile showcase:1 shortlist messages$/m,
    );
    now += 1;
    expect(await show()).toMatch(/^Plan {6}Free \(1, m-free\)\nGives {5}profile$/m);
    expect((await foyer('user', 'show', sub, '--json')).json()).toMatchObject({ plan: '1', entitlements: ['profile'] });
    const broken = cliOn(urls, { PLANS_FILE: '/nowhere/plans.json' }, () => now);
    expect(await broken('user', 'show', sub)).toMatchObject({
      code: 4,
      err: expect.stringContaining('/nowhere/plans.json'),
    });
  });

  it('Setting a password follows the rules for new passwords, reports what ended and refuses a disabled user', async () => {
    await foyer('user', 'add', ...ada, ...secret);
    const set = (given: string) =>
      foyer.withInput(given, 'user', 'set-password', 'ada@example.com', '--password-stdin');
    for (const [given, said] of [
      ['short 1', 'at least 8 characters'],
      ['Password1!', 'lists of stolen passwords'],
      ['for Lovelace 1', 'must not contain the given name'],
    ] as const) {
      expect(await set(given)).toMatchObject({ code: 1, err: expect.stringContaining(said) });
    }
    const done = await set('a walk in the rain 4');
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toBe(
      'Member ada@example.com has a new password, and is told so by mail. Ended: 0 sessions, 0 grants to client apps with all tokens.\n',
    );
    expect((await foyer('outbox', 'list')).out).toContain('password-changed');
    await foyer('user', 'disable', 'ada@example.com');
    expect(await set('a walk in the sun 5')).toMatchObject({ code: 1, err: expect.stringContaining('is disabled') });
    expect(await foyer('user', 'set-password', 'unknown@example.com', ...secret)).toMatchObject({ code: 3 });
  });

  it('Disabling and enabling report the state that they found and may be repeated', async () => {
    await foyer('user', 'add', ...ada, ...secret);
    expect(await foyer('user', 'enable', 'ada@example.com')).toMatchObject({
      code: 0,
      out: 'Member ada@example.com was not disabled.\n',
    });
    const disabled = await foyer('user', 'disable', 'ada@example.com', '--json');
    expect(disabled.json()).toMatchObject({
      disabled: true,
      disabled_at: Date.UTC(2026, 10, 21, 9, 30) / 1000,
      ended: { sessions: 0, grants: 0 },
    });
    expect((await foyer('user', 'disable', 'ada@example.com')).out).toMatch(
      /was disabled already, since 2026-11-21 09:30:00 UTC/,
    );
    expect((await foyer('user', 'list')).out).toMatch(/ disabled /);
    expect((await foyer('user', 'enable', 'ada@example.com', '--json')).json()).toMatchObject({ disabled: false });
    expect((await foyer('user', 'show', 'ada@example.com', '--json')).json()).not.toHaveProperty('disabled_at');
  });

  it('A user who does not exist is not found and the exit code is 3', async () => {
    for (const command of ['show', 'disable', 'enable']) {
      for (const who of ['eve@example.com', '+41790000000', '00000000-0000-7000-8000-000000000000', 'x']) {
        expect(await foyer('user', command, who)).toMatchObject({
          code: 3,
          out: '',
          err: `There is no member ${who}.\n`,
        });
      }
    }
  });
});
