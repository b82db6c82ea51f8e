import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { createPasswordHasher } from '../../server/password/index.ts';
import { cliOf } from '../support/cli.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

const cost = { memoryCost: 64, timeCost: 1, parallelism: 1 };
const shares = { account: 100, address: 100 };
const hasherWith = (secretKeys: readonly string[], more: Partial<typeof cost> = {}) =>
  createPasswordHasher({ queueMax: 100, waitMs: 10_000, shares, cost: { ...cost, ...more }, secretKeys });
const [older, newer] = ['an older secret key that is long enough', 'a newer secret key that is long enough'];

/** An attacker has the database, but not SECRET_KEY. */
describe('attack: guessing passwords from a stolen database', () => {
  it('Without SECRET_KEY, or with another one, no candidate matches, not even the right password', async () => {
    const stored = await hasherWith([newer]).hash(password, 'operator');
    expect(stored).toMatch(/^\$hmac-sha256\$k=[\w-]{8}\$argon2id\$/);
    const plain = stored.slice(stored.indexOf('$argon2id$'));
    for (const thief of [hasherWith([]), hasherWith([older])]) {
      for (const text of [stored, plain]) expect(await thief.verify(text, password, 'operator')).toBe(false);
    }
    expect(await hasherWith([newer]).verify(plain, password, 'operator')).toBe(false);
    expect(await hasherWith([newer]).verify(stored, password, 'operator')).toBe(true);
    expect(await hasherWith([newer]).verify(stored, `${password}!`, 'operator')).toBe(false);
  });

  it('Each hash names its key, and a hash that names another key matches nothing', async () => {
    const [one, two] = [
      await hasherWith([older]).hash(password, 'operator'),
      await hasherWith([newer]).hash(password, 'operator'),
    ];
    const id = (text: string) => text.slice(0, 23);
    expect(id(one)).not.toBe(id(two));
    const swapped = id(two) + one.slice(23);
    expect(await hasherWith([newer, older]).verify(swapped, password, 'operator')).toBe(false);
    expect(await hasherWith([newer, older]).verify(one, password, 'operator')).toBe(true);
  });
});

describe.each(backends)('how passwords are kept, on $name', (backend) => {
  let foyer: TestFoyer;
  const dir = mkdtempSync(join(tmpdir(), 'foyer-hashes-'));
  beforeAll(async () => {
    foyer = await startFoyer(
      backend,
      { GUESS_LIMIT_ADDRESS: '1000', SECRET_KEY: `${newer},${older}` },
      { passwords: { ...hasherWith([newer, older]) } },
    );
  });
  afterAll(async () => {
    await foyer?.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const command = (...argv: string[]) => cliOf(foyer)(...argv);
  const stored = async (id: string) => {
    const query = foyer.stores.database.db.selectFrom('users').select(['passwordHash', 'passwordProfile']);
    return query.where('id', '=', toUserId(id)).executeTakeFirstOrThrow();
  };
  const signIn = async (email: string, given = password) =>
    (await foyer.browser().post('/sign-in', { username: email, password: given })).status;
  /** From now on the product hashes with these keys. */
  const goOnWith = (secretKeys: readonly string[], more: Partial<typeof cost> = {}) =>
    Object.assign(foyer.deps.passwords, hasherWith(secretKeys, more));

  it('A hash without a key, with an old key or with less memory verifies and is renewed at the sign-in', async () => {
    const { passwords } = foyer.deps;
    const before = { ...passwords };
    try {
      const user = await foyer.addUser({ passwordHash: await hasherWith([]).hash(password, 'operator') });
      const seen = new Set<string | null>([(await stored(user.id)).passwordHash]);
      const steps: [keys: readonly string[], more: Partial<typeof cost>][] = [
        [[older], {}],
        [[newer, older], {}],
        // The old key is gone, and no hash needs it.
        [[newer], {}],
        [[newer], { memoryCost: 128 }],
      ];
      for (const [index, [keys, more]] of steps.entries()) {
        goOnWith(keys, more);
        expect(await signIn(user.email, 'a wrong one 7')).toBe(400);
        expect(await signIn(user.email)).toBe(303);
        seen.add((await stored(user.id)).passwordHash);
        // Every step makes a new hash except the third, which changes nothing for this user.
        expect(seen.size).toBe([2, 3, 3, 4][index]);
      }
      expect((await stored(user.id)).passwordHash).toContain('$m=128,t=1,p=1$');
      const epoch = foyer.stores.database.db.selectFrom('users').select('passwordEpoch').where('id', '=', user.id);
      expect(await epoch.executeTakeFirstOrThrow()).toEqual({ passwordEpoch: 0 });
    } finally {
      Object.assign(passwords, before);
    }
  });

  const salt = Buffer.from('0123456789abcdef');
  const phc = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '');
  const weak: [name: string, make: () => string | Promise<string>][] = [
    [
      'pbkdf2 with one iteration',
      () => `$pbkdf2-sha256$i=1$${phc(salt)}$${phc(pbkdf2Sync(password, salt, 1, 32, 'sha256'))}`,
    ],
    [
      'scrypt with N = 2',
      () => `$scrypt$ln=1,r=8,p=1$${phc(salt)}$${phc(scryptSync(password, salt, 32, { N: 2, r: 8, p: 1 }))}`,
    ],
    ['bcrypt of cost 4', () => bcrypt(password, { cost: 4 })],
    ['bcrypt of cost 4, as PHP writes it', () => bcrypt(password, { cost: 4, version: '2y' })],
    ['argon2id with 64 KiB', () => argon2(password, cost)],
    ['argon2i with 64 KiB', () => argon2(password, { ...cost, algorithm: 1 })],
  ];
  let rows = 0;
  async function importing(hashes: readonly string[], ...options: string[]) {
    const members = hashes.map((password_hash) => {
      rows += 1;
      const sub = `${String(rows).padStart(8, '0')}-0bad-4c7f-8c7f-0123456789ac`;
      return { sub, email: `imported${rows}@example.com`, email_verified: true, password_hash };
    });
    const [file, report] = [join(dir, `${rows}.json`), join(dir, `${rows}.csv`)];
    writeFileSync(file, JSON.stringify(members));
    const run = await command('user', 'import', file, '--report', report, '--json', ...options);
    expect(run.code).toBe(0);
    return { members, counts: run.json<Record<string, number>>(), report: readFileSync(report, 'utf8') };
  }
  const doctor = async () => (await command('doctor')).out;

  it('An import counts the weak hashes and names their rows, and the doctor counts the remaining ones', async () => {
    const strong = `$pbkdf2-sha256$i=100000$${phc(salt)}$${phc(pbkdf2Sync(password, salt, 100_000, 32, 'sha256'))}`;
    const hashes = [...(await Promise.all(weak.map(([, make]) => make()))), strong];
    const { members, counts, report } = await importing(hashes);
    expect(counts).toMatchObject({ added: weak.length + 1, weakHashes: weak.length, notes: 0 });
    const named = members.filter(({ sub }) => report.includes(sub)).map(({ sub }) => sub);
    expect(named).toEqual(members.slice(0, weak.length).map(({ sub }) => sub));
    expect(await doctor()).toContain(`${weak.length} imported password hashes are below the least work`);
    for (const { email } of members) expect(await signIn(email)).toBe(303);
    expect(await doctor()).not.toContain('below the least work');
  });

  it.each(weak)(
    'A hash wrapped at the import (%s) is not in the database itself, and the password signs in',
    async (_name, make) => {
      const given = await make();
      const { members, counts } = await importing([given], '--wrap-weak-hashes');
      const [member] = members;
      expect(counts).toMatchObject({ added: 1, weakHashes: 1 });
      const kept = await stored(member?.sub ?? '');
      expect(kept.passwordHash).toMatch(
        /^\$wrapped\$[\w-]+\$hmac-sha256\$k=[\w-]{8}\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
      );
      expect(kept.passwordProfile).toMatch(/^wrapped\$/);
      const shell = Buffer.from(kept.passwordHash?.split('$')[2] ?? '', 'base64url').toString();
      expect(shell).not.toContain(given.slice(-20));
      expect(await doctor()).not.toContain('below the least work');
      const { passwords } = foyer.deps;
      const before = { ...passwords };
      try {
        // A thief without the key has neither value.
        expect(await hasherWith([older]).verify(kept.passwordHash, password, 'operator')).toBe(false);
        goOnWith([newer, older]);
        expect(await signIn(member?.email ?? '', 'a wrong one 7')).toBe(400);
        expect(await signIn(member?.email ?? '')).toBe(303);
        const after = await stored(member?.sub ?? '');
        expect(after.passwordProfile).toBeNull();
        expect(after.passwordHash).toMatch(/^\$hmac-sha256\$k=/);
        expect(await signIn(member?.email ?? '')).toBe(303);
      } finally {
        Object.assign(passwords, before);
      }
    },
  );

  it('A user whom a command adds signs in at a server with the same SECRET_KEY', async () => {
    const { passwords } = foyer.deps;
    const before = { ...passwords };
    try {
      goOnWith([newer, older]);
      const email = 'by-command@example.com';
      const run = await command(
        'user',
        'add',
        '--email',
        email,
        '--password',
        password,
        '--verified',
        '--accept-terms',
      );
      expect([run.code, run.err]).toEqual([0, '']);
      expect(await signIn(email)).toBe(303);
    } finally {
      Object.assign(passwords, before);
    }
  });

  it('The doctor counts hashes of a key that is gone and of one that is not the newest', async () => {
    await foyer.addUser({
      passwordHash: await hasherWith(['a key that nobody has any more, at all']).hash(password, 'operator'),
    });
    await foyer.addUser({ passwordHash: await hasherWith([older]).hash(password, 'operator') });
    const said = await doctor();
    expect(said).toContain('1 password hash is made with a key that is not in SECRET_KEY');
    expect(said).toMatch(/\d+ password hash(es are| is) made without the newest SECRET_KEY/);
  });
});
