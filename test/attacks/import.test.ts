import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { changeEmail } from '../../server/users/index.ts';
import { codeFor, newPassword, submit } from '../password/steps.ts';
import { type Cli, cliOf } from '../support/cli.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSha256, toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

let ids = 0;
const newSub = () => {
  ids += 1;
  return `${String(ids).padStart(8, '0')}-0bad-4c7f-8c7f-0123456789ab`;
};
const columns = 'sub,email,email_verified,given_name,phone_number,phone_number_verified,password_hash';

/** A file that an attacker has had a hand in: their own row, the whole of it, or who stands further up. */
describe.each(backends)('an import of hostile files, on $name', (backend) => {
  let foyer: TestFoyer;
  let cli: Cli;
  let dir: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    cli = cliOf(foyer);
    dir = mkdtempSync(join(tmpdir(), 'foyer-import-'));
  });
  afterAll(async () => {
    await foyer?.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const path = (name: string) => join(dir, name);
  async function importing(content: string | Uint8Array, name = 'users.csv', ...options: string[]) {
    writeFileSync(path(name), content);
    const run = await cli('user', 'import', path(name), '--report', path('report.csv'), ...options);
    return { ...run, report: () => readFileSync(path('report.csv'), 'utf8') };
  }
  const users = () => foyer.stores.database.db.selectFrom('users').selectAll().orderBy('id').execute();
  const userOf = async (id: string) => (await users()).find((user) => user.id === id);
  const signIn = (username: string, typed: string) => foyer.browser().post('/sign-in', { username, password: typed });

  describe('another user’s account', () => {
    it('An imported row takes no existing account by its address in any spelling, its id or its number', async () => {
      const phone = '+4915112345601';
      const victim = await foyer.addUser({ phone, phoneVerified: true });
      const hash = await bcrypt('the attacker knows 1', { cost: 4 });
      const before = await users();
      const [mine, other] = [newSub(), newSub()];
      const run = await importing(
        [
          columns,
          `${mine},${victim.email},true,Eve,,,${hash}`,
          `${other}, ${victim.email.toUpperCase()} ,true,Eve,,,${hash}`,
          `${victim.id},eve@example.net,true,Eve,,,${hash}`,
          `${victim.id},${victim.email},true,Eve,+4915112345602,true,${hash}`,
        ].join('\n'),
      );
      expect(run.out).toContain('0 added, 1 here already, 3 refused');
      expect(await users()).toEqual(before);
      expect((await signIn(victim.email, 'the attacker knows 1')).status).toBe(400);
      expect((await signIn(victim.email, password)).status).toBe(303);
      const thief = newSub();
      await importing(`${columns}\n${thief},thief@example.net,true,Eve,${phone},true,${hash}\n`);
      expect(await userOf(thief)).toMatchObject({ phone: null, phone_verified: 0 });
      expect(await userOf(victim.id)).toMatchObject({ phone, phone_verified: 1 });
    });

    it('An imported row with an unconfirmed address takes no account from the owner, wherever it stands in the file', async () => {
      const hash = await bcrypt('the attacker knows 2', { cost: 4 });
      const [eve, ada, bob] = [newSub(), newSub(), newSub()];
      const run = await importing(
        [
          columns,
          // Eve signed up with Ada's address and with Bob's, and confirmed neither.
          `${eve},ada.first@example.com,false,Eve,+4915112345603,true,${hash}`,
          `${ada},ada.first@example.com,true,Ada,,,`,
          `${bob},bob.alone@example.com,,Eve,+4915112345604,true,${hash}`,
        ].join('\n'),
      );
      expect(run.out).toContain('2 added');
      expect(await userOf(eve)).toBeUndefined();
      expect(await userOf(ada)).toMatchObject({ email: 'ada.first@example.com', given_name: 'Ada' });
      expect(await userOf(bob)).toMatchObject({
        password_hash: null,
        phone: null,
        mfa_preference: 'none',
        email_verified: 0,
      });
      for (const name of ['bob.alone@example.com', '+4915112345604']) {
        expect((await signIn(name, 'the attacker knows 2')).headers.get('set-cookie') ?? '').not.toContain(
          'foyer_session',
        );
      }
      // Who reads the address's mail has the account, and nobody's number or factor with it.
      const browser = foyer.browser();
      await browser.post('/sign-in', { username: 'bob.alone@example.com', password: 'whatever it was 3' });
      await submit(browser, 'bob.alone@example.com', await codeFor(foyer, 'bob.alone@example.com'));
      expect((await signIn('bob.alone@example.com', newPassword)).status).toBe(303);
    });

    it('An import restores no erased account and takes no address that is reserved for a user', async () => {
      const { database } = foyer.stores;
      const gone = newSub();
      await database.db
        .insertInto('account_deletions')
        .values({ user_id: toUserId(gone), requested_at: 1, due_at: 2, done_at: 3, membership: null })
        .execute();
      const mover = await foyer.addUser();
      const nowMs = foyer.deps.now();
      await database.transaction((trx) =>
        changeEmail(
          trx,
          mover,
          { email: 'moved.on@example.com', undoHash: toSha256('x'), undoUntil: nowMs + 60_000 },
          nowMs,
        ),
      );
      const run = await importing(
        `${columns}\n${gone},gone@example.com,true,,,,\n${newSub()},${mover.email},true,,,,\n`,
      );
      expect(run.out).toContain('0 added, 0 here already, 2 refused');
      expect(run.report()).toMatch(/had themselves erased/);
      expect(run.report()).toMatch(/kept for another one/);
    });

    it('An account with an unverified number loses the number to an imported account that has verified it', async () => {
      const phone = '+4915112345605';
      const said = await foyer.addUser({ phone, phoneVerified: false });
      const id = newSub();
      await importing(`${columns}\n${id},owner.of.it@example.com,true,,${phone},true,\n`);
      expect(await userOf(id)).toMatchObject({ phone, phone_verified: 1 });
      expect(await userOf(said.id)).toMatchObject({ phone: null });
    });
  });

  describe('an invalid file', () => {
    const latin = Buffer.from(`${columns}\n${newSub()},zoe@example.com,true,Zo\u00eb,,,\n`, 'latin1');
    const row = `${newSub()},whole@example.com,true,Ada,,,`;
    it.each<[what: string, content: string | Uint8Array, says: RegExp, name?: string]>([
      ['names a column twice', `${columns},email\n${row},x@example.com\n`, /line 1: a column stands twice: email/],
      ['names it twice in another case', `${columns},EMAIL\n`, /a column stands twice: email/],
      ['has no address', 'sub,name\n1,Ada\n', /must name the columns, among them email/],
      ['has no names', `secret,secret,x@example.com\n${row}\n`, /must name the columns, among them email/],
      ['hides signs in its names', `email,a\u001b[2J,a\u001b[2J\n`, /a column stands twice: a\u2423\[2j/],
      ['is separated otherwise', `${columns.replaceAll(',', ';')}\n`, /separated by commas/],
      ['is empty', '', /is empty/],
      ['is written in Latin-1', latin, /not written in UTF-8/],
      ['is UTF-16', Buffer.from(`\ufeff${columns}\n${row}\n`, 'utf16le'), /not written in UTF-8/],
      [
        'ends within a letter',
        Buffer.concat([Buffer.from(`${columns}\n${row}`), Buffer.of(0xe2, 0x82)]),
        /not written in UTF-8/,
      ],
      ['has a quote that is not closed', `${columns}\n${row}\n"${'x,'.repeat(100)}\n`, /a quote is not closed/],
      [
        'has a quote in a cell',
        `${columns}\n${newSub()},sec"ret@example.com,,,,,\n`,
        /line 2: a quote stands within a cell/,
      ],
      ['is one huge line', `${columns}\n${'x'.repeat(2_000_000)}`, /longer than 65536 bytes/],
      ['has one huge cell', `${columns}\n${row}\n"${'secret'.repeat(200_000)}"\n`, /longer than 65536 bytes/],
      ['is no JSON', '{"sub": secret}', /line 1: this is no JSON/, 'a.json'],
      ['is cut off', `[\n{"sub":"${newSub()}","email":"cut@example.com"},\n{"sub":`, /is cut off/, 'b.json'],
      ['is a list that is not closed', `[{"sub":"${newSub()}","email":"cut@example.com"}\n`, /is cut off/, 'c.json'],
      ['holds no objects', '["secret@example.com"]', /this is no JSON object/, 'd.json'],
      ['has one huge object', `[{"sub":"${'x'.repeat(70_000)}"}]`, /longer than 65536 characters/, 'e.json'],
      ['is braces in braces', '{"a":'.repeat(100_000), /longer than 65536 characters/, 'f.json'],
    ])(
      'A file that %s changes nothing, and the error quotes nothing of its content',
      async (_what, content, says, name) => {
        const before = await users();
        const run = await importing(content, name);
        expect(run.code).toBe(1);
        expect(run.err).toMatch(says);
        expect(run.err).not.toMatch(/secret|xxxx|@example/);
        expect(run.err.length).toBeLessThan(500);
        expect(await users()).toEqual(before);
      },
    );

    it('A folder or a missing file gets a clear error', async () => {
      expect(await cli('user', 'import', dir)).toMatchObject({ code: 1, err: expect.stringContaining('is no file') });
      const none = await cli('user', 'import', path('none.csv'));
      expect(none).toMatchObject({ code: 1, err: expect.stringContaining('there is no such file') });
    });

    it('A report that would overwrite the imported file is refused', async () => {
      const content = `${columns}\n${newSub()},kept@example.com,true,,,,\n`;
      writeFileSync(path('kept.csv'), content);
      const run = await cli('user', 'import', path('kept.csv'), '--report', `${dir}/./kept.csv`);
      expect(run).toMatchObject({ code: 1, err: expect.stringContaining('would write over the file itself') });
      expect(readFileSync(path('kept.csv'), 'utf8')).toBe(content);
    });
  });

  it('Cells with formulas, control characters, long text or prototype names harm no report, terminal or table', async () => {
    const [fine, long] = [newSub(), newSub()];
    const run = await importing(
      [
        `${columns},__proto__,constructor,=1+1\u001b[2J`,
        `${fine},formula@example.com,true,"=HYPERLINK(""http://evil.example"",""x"")",,,,{},x,y`,
        `=cmd|' /C calc'!A0,a@example.com,true,,,,,,,`,
        `@SUM(1),b@example.com,true,,,,,,,`,
        `-2+3,c@example.com,true,,,,,,,`,
        `${newSub()},"d\u0000@example.com",true,,,,,,,`,
        `${long},long@example.com,true,${'x'.repeat(5_000)},,,,,,`,
        `${newSub()},${'e'.repeat(300)}@example.com,true,,,,,,,`,
        `${'1'.repeat(200)},f@example.com,true,,,,,,,`,
        `${newSub()},\u001b]0;pwned\u0007@example.com,true,,,,,,,`,
      ].join('\n'),
    );
    expect(run.out).toContain('2 added, 0 here already, 7 refused');
    // A name is a name: nothing here acts on it.
    expect(await userOf(fine)).toMatchObject({ given_name: '=HYPERLINK("http://evil.example","x")' });
    expect(await userOf(long)).toMatchObject({ given_name: '' });
    expect(Reflect.get({}, 'x')).toBeUndefined();
    for (const text of [run.err, run.out, run.report()]) expect(text).not.toMatch(/[^\P{Cc}\n]|cmd|SUM|evil|pwned/u);
    // No cell of the report begins with what a spreadsheet takes for a formula.
    for (const line of run.report().trim().split('\n')) {
      for (const cell of line.split(',')) expect(cell).not.toMatch(/^"?[=+\-@\t]/);
    }
  });

  it('A row that names one field twice in different case or place is refused', async () => {
    const [a, b] = [newSub(), newSub()];
    const hostile = [
      { sub: a, email: 'mine@example.com', Email: 'theirs@example.com', email_verified: true },
      {
        Username: b,
        Attributes: [
          { Name: 'sub', Value: b },
          { Name: 'email', Value: 'x@example.com' },
          { Name: 'EMAIL', Value: 'y@example.com' },
        ],
      },
    ];
    const run = await importing(JSON.stringify(hostile), 'twice.json');
    expect(run.out).toContain('0 added, 0 here already, 2 refused');
    const nested = { sub: { toString: 'x' }, email: ['list@example.com'], email_verified: {}, given_name: { a: 1 } };
    expect((await importing(JSON.stringify([nested]), 'nested.json')).out).toContain(
      '0 added, 0 here already, 1 refused',
    );
  });

  it('Hashes that are empty, of no known kind or beyond the limits sign in no user', async () => {
    const typed = ['x', '!', '*', 'null', 'undefined', '[object Object]'];
    const hashes: unknown[] = [
      '!',
      '*',
      'x',
      'null',
      {},
      { algorithm: 'none' },
      0,
      true,
      [],
      `$2b$31$${'a'.repeat(53)}`,
    ];
    const rows = hashes.map((password_hash, n) => ({
      sub: newSub(),
      email: `odd${n}@example.com`,
      email_verified: true,
      password_hash,
    }));
    const empty = ['', null, undefined].map((password_hash, n) => ({
      sub: newSub(),
      email: `bare${n}@example.com`,
      email_verified: true,
      password_hash,
    }));
    const run = await importing(JSON.stringify([...rows, ...empty]), 'hashes.json');
    expect(run.out).toContain(`${empty.length} added, 0 here already, ${rows.length} refused`);
    for (const { email } of empty) {
      for (const one of typed) {
        const answer = await signIn(email, one);
        // To a first password, or away.
        expect(answer.headers.get('location') ?? '/reset-password').toMatch(/^\/reset-password/);
        expect(answer.headers.get('set-cookie') ?? '').not.toMatch(/foyer_session|id_token/);
      }
    }
  });

  it('No hash, address or number appears in the output, the report or the log', async () => {
    const hash = await bcrypt('a very secret one 7', { cost: 4 });
    const taken = await foyer.addUser();
    const run = await importing(
      [
        columns,
        `${newSub()},private.address@example.com,true,Secretname,+4915199999901,true,${hash}`,
        `${newSub()},${taken.email},true,Secretname,+4915199999902,true,${hash}`,
        `${newSub()},private.other@example.com,true,Secretname,not-a-number-31337,true,${hash.slice(0, 40)}`,
      ].join('\n'),
    );
    expect(run.out).toContain('1 added, 0 here already, 2 refused');
    expect((await signIn('private.address@example.com', 'a very secret one 7')).status).toBe(303);
    for (const text of [run.out, run.err, run.report(), foyer.logged()]) {
      for (const secret of [
        hash,
        hash.slice(7, 40),
        'private.',
        'Secretname',
        '49151999999',
        '31337',
        'a very secret one',
      ]) {
        expect(text).not.toContain(secret);
      }
    }
  });
});
