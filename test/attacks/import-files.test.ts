import { readFileSync, writeFileSync } from 'node:fs';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { backends } from '../support/stores.ts';
import { newSub, setUpImport } from './import-steps.ts';

const columns = 'sub,email,email_verified,given_name,phone_number,phone_number_verified,password_hash';

/** A file in which an attacker wrote a row, an earlier row, or everything. */
describe.each(backends)('an import of hostile files, on $name', (backend) => {
  const context = setUpImport(backend);
  const { path, importing, users, userOf, signIn } = context;

  describe('an invalid file', () => {
    const latin = Buffer.from(`${columns}\n${newSub()},zoe@example.com,true,Zo\u00eb,,,\n`, 'latin1');
    const row = `${newSub()},whole@example.com,true,Ada,,,`;
    it.each<[what: string, content: string | Uint8Array, says: RegExp, name?: string]>([
      ['names a column twice', `${columns},email\n${row},x@example.com\n`, /line 1: a column stands twice: email/],
      ['names a column twice in different case', `${columns},EMAIL\n`, /a column stands twice: email/],
      ['has no column of addresses', 'sub,name\n1,Ada\n', /must name the columns, among them email/],
      [
        'has no line of column names',
        `secret,secret,x@example.com\n${row}\n`,
        /must name the columns, among them email/,
      ],
      [
        'has control characters in its column names',
        `email,a\u001b[2J,a\u001b[2J\n`,
        /a column stands twice: a\u2423\[2j/,
      ],
      ['has other separators', `${columns.replaceAll(',', ';')}\n`, /separated by commas/],
      ['is empty', '', /is empty/],
      ['is written in Latin-1', latin, /not written in UTF-8/],
      ['is written in UTF-16', Buffer.from(`\ufeff${columns}\n${row}\n`, 'utf16le'), /not written in UTF-8/],
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
      ['has the name of a JSON file and no JSON', '{"sub": secret}', /line 1: this is no JSON/, 'a.json'],
      ['is cut off', `[\n{"sub":"${newSub()}","email":"cut@example.com"},\n{"sub":`, /is cut off/, 'b.json'],
      ['is a list that is not closed', `[{"sub":"${newSub()}","email":"cut@example.com"}\n`, /is cut off/, 'c.json'],
      ['holds no objects', '["secret@example.com"]', /this is no JSON object/, 'd.json'],
      ['has one huge object', `[{"sub":"${'x'.repeat(70_000)}"}]`, /longer than 65536 characters/, 'e.json'],
      ['nests objects without end', '{"a":'.repeat(100_000), /longer than 65536 characters/, 'f.json'],
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
      expect(await context.cli('user', 'import', context.dir)).toMatchObject({
        code: 1,
        err: expect.stringContaining('is no file'),
      });
      const none = await context.cli('user', 'import', path('none.csv'));
      expect(none).toMatchObject({ code: 1, err: expect.stringContaining('there is no such file') });
    });

    it('A report that would overwrite the imported file is refused', async () => {
      const content = `${columns}\n${newSub()},kept@example.com,true,,,,\n`;
      writeFileSync(path('kept.csv'), content);
      const run = await context.cli('user', 'import', path('kept.csv'), '--report', `${context.dir}/./kept.csv`);
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
    // Nothing interprets a name.
    expect(await userOf(fine)).toMatchObject({ givenName: '=HYPERLINK("http://evil.example","x")' });
    expect(await userOf(long)).toMatchObject({ givenName: '' });
    expect(Reflect.get({}, 'x')).toBeUndefined();
    for (const text of [run.err, run.out, run.report()]) expect(text).not.toMatch(/[^\P{Cc}\n]|cmd|SUM|evil|pwned/u);
    // No cell of the report begins with a character that starts a formula in a spreadsheet.
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
        // The user gets the page of the first password, or a refusal.
        expect(answer.headers.get('location') ?? '/reset-password').toMatch(/^\/reset-password/);
        expect(answer.headers.get('set-cookie') ?? '').not.toMatch(/foyer_session|id_token/);
      }
    }
  });

  it('No hash, address or number appears in the output, the report or the log', async () => {
    const hash = await bcrypt('a very secret one 7', { cost: 4 });
    const taken = await context.foyer.addUser();
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
    for (const text of [run.out, run.err, run.report(), context.foyer.logged()]) {
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
