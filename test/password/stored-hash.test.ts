import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { createPasswordHasher, parseImportedHash } from '../../server/password/index.ts';
import { maxHashWork, readHash, toDecoyHash } from '../../server/password/stored-hash.ts';
import { workTime } from '../support/own-time.ts';

const password = 'correct horse 9';
const salt = Buffer.from('0123456789abcdef');
const b64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const phc = (bytes: Uint8Array) => b64(bytes).replace(/=+$/, '');
const ab64 = (bytes: Uint8Array) => phc(bytes).replaceAll('+', '.');
const scrypt = (from: string | Buffer, bytes = 32) => scryptSync(password, from, bytes, { N: 1_024, r: 8, p: 1 });
const pbkdf2 = (from: string | Buffer, digest: string, bytes = 32) => pbkdf2Sync(password, from, 500, bytes, digest);
const cheap = { memoryCost: 64, timeCost: 1, parallelism: 1 };
const queue = { queueMax: 10, waitMs: 10_000 };
const hasher = createPasswordHasher({ ...queue, cost: cheap });
const made: [name: string, make: () => unknown | Promise<unknown>][] = [
  ['argon2id', () => argon2(password, cheap)],
  ['argon2i', () => argon2(password, { ...cheap, algorithm: 1 })],
  ['argon2d', () => argon2(password, { ...cheap, algorithm: 0 })],
  ['argon2 of version 1.0', () => argon2(password, { ...cheap, version: 0 })],
  ['bcrypt 2a', () => bcrypt(password, { cost: 4, version: '2a' })],
  ['bcrypt 2b', () => bcrypt(password, { cost: 4, version: '2b' })],
  ['bcrypt 2y, as PHP writes it', () => bcrypt(password, { cost: 4, version: '2y' })],
  ['scrypt as PHC', () => `$scrypt$ln=10,r=8,p=1$${phc(salt)}$${phc(scrypt(salt))}`],
  ['pbkdf2 as PHC', () => `$pbkdf2-sha512$i=500$${phc(salt)}$${phc(pbkdf2(salt, 'sha512', 64))}`],
  ['Django, pbkdf2', () => `pbkdf2_sha256$500$NaCl$${b64(pbkdf2('NaCl', 'sha256'))}`],
  ['Django, scrypt', () => `scrypt$NaCl$1024$8$1$${b64(scrypt('NaCl', 64))}`],
  ['Django, bcrypt', async () => `bcrypt$${await bcrypt(password, { cost: 4 })}`],
  ['Django, argon2', async () => `argon2${await argon2(password, cheap)}`],
  ['Werkzeug, pbkdf2', () => `pbkdf2:sha1:500$NaCl$${pbkdf2('NaCl', 'sha1', 20).toString('hex')}`],
  ['Werkzeug, scrypt', () => `scrypt:1024:8:1$NaCl$${scrypt('NaCl', 64).toString('hex')}`],
  ['passlib, pbkdf2', () => `$pbkdf2-sha256$500$${ab64(salt)}$${ab64(pbkdf2(salt, 'sha256'))}`],
  ['passlib, pbkdf2 with SHA-1', () => `$pbkdf2$500$${ab64(salt)}$${ab64(pbkdf2(salt, 'sha1', 20))}`],
  [
    'parts of pbkdf2',
    () => ({
      algorithm: 'pbkdf2',
      digest: 'SHA-256',
      iterations: 500,
      salt: b64(salt),
      hash: b64(pbkdf2(salt, 'sha256')),
    }),
  ],
  [
    'parts of scrypt, in hexadecimal digits',
    () => ({
      algorithm: 'scrypt',
      N: 1_024,
      r: 8,
      p: 1,
      encoding: 'hex',
      salt: salt.toString('hex'),
      hash: scrypt(salt).toString('hex'),
    }),
  ],
];

describe('a hash that another service made', () => {
  it.each(made)('A hash of %s verifies its password and no other', async (_name, make) => {
    const read = parseImportedHash((await make()) as string);
    if (typeof read === 'string') throw new Error(`it was not read: ${read}`);
    expect(await hasher.verify(read.text, password, 'operator')).toBe(true);
    expect(await hasher.verify(read.text, `${password}!`, 'operator')).toBe(false);
    expect(await hasher.verify(read.text, '', 'operator')).toBe(false);
    // The dummy hash has the same parameters, and no password matches it.
    const decoy = toDecoyHash(read.profile);
    expect(decoy?.profile).toBe(read.profile);
    expect(await decoy?.verify(password)).toBe(false);
  });

  const right = `$pbkdf2-sha256$i=500$${phc(salt)}$${phc(pbkdf2(salt, 'sha256'))}`;
  const b = 'a'.repeat(43);
  it.each([
    ['', 'nothing'],
    [' ', 'a space'],
    ['*', 'a locked account of a Unix machine'],
    [password, 'the password itself'],
    ['5f4dcc3b5aa765d61d8327deb882cf99', 'MD5'],
    ['{SSHA}MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=', 'LDAP'],
    ['$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/', 'MD5-crypt'],
    [`$6$saltsalt$${'a'.repeat(86)}`, 'SHA-512-crypt'],
    [`$2x$10$${'a'.repeat(53)}`, 'the broken bcrypt'],
    [`$2b$10$${'a'.repeat(52)}`, 'bcrypt, cut off'],
    [`$2b$03$${'a'.repeat(53)}`, 'bcrypt below its least cost'],
    [`$argon2id$v=19$m=1024,t=1,p=1$${phc(salt)}$`, 'argon2 without a result'],
    [`$argon2id$v=19$m=1024,t=1,p=1$${phc(salt)}$YWJj`, 'argon2 with a result of three bytes'],
    [`$argon2id$v=19$m=1024,t=0,p=1$${phc(salt)}$${b}`, 'argon2 without passes'],
    [`$argon2id$v=19$m=4,t=1,p=1$${phc(salt)}$${b}`, 'argon2 with less memory than it needs'],
    [`$scrypt$ln=0,r=8,p=1$${phc(salt)}$${b}`, 'scrypt with N = 1'],
    [`$scrypt$ln=10,r=0,p=1$${phc(salt)}$${b}`, 'scrypt without blocks'],
    [`$pbkdf2-sha256$i=0$${phc(salt)}$${b}`, 'pbkdf2 without iterations'],
    [`$pbkdf2-md5$i=500$${phc(salt)}$${b}`, 'pbkdf2 with MD5'],
    [`$pbkdf2-sha256$i=500$$${b}`, 'pbkdf2 without salt'],
    [right.slice(0, -30), 'pbkdf2, cut off'],
    [`${right}\u0000`, 'a null character at its end'],
    ['$'.repeat(5_000), 'five thousand dollar signs'],
  ])('The text %j (%s) is refused as a hash, and in the database it signs no one in', async (text) => {
    expect(parseImportedHash(text)).toBe('unknown');
    for (const typed of ['', ' ', password, text.slice(0, 256)])
      expect(await hasher.verify(text, typed, 'operator')).toBe(false);
  });

  it.each([
    {},
    { algorithm: 'md5', hash: b },
    { algorithm: 'pbkdf2', hash: b, salt: b64(salt) },
    { algorithm: 'scrypt', N: 1_000, r: 8, p: 1, hash: b, salt: b64(salt) },
    { algorithm: 'scrypt', N: '1e3', r: 8, p: 1, hash: b, salt: b64(salt) },
    { algorithm: 'pbkdf2', digest: 'sha256', iterations: 1.5, hash: b, salt: b64(salt) },
    { algorithm: 'bcrypt', hash: ['$2b$10$'] },
    JSON.parse('{"__proto__":{"algorithm":"bcrypt"},"hash":"x"}'),
  ])('The parts %j are refused as a hash', (parts) => {
    expect(parseImportedHash(parts)).toBe('unknown');
  });

  it.each([
    [`$argon2id$v=19$m=${maxHashWork.argon2MemoryKib + 1},t=1,p=1$${phc(salt)}$${b}`],
    [`$argon2id$v=19$m=4294967295,t=1,p=1$${phc(salt)}$${b}`],
    [`$argon2id$v=19$m=1024,t=4294967295,p=1$${phc(salt)}$${b}`],
    [`$argon2id$v=19$m=65536,t=17,p=1$${phc(salt)}$${b}`],
    [`$argon2id$v=19$m=65536,t=1,p=255$${phc(salt)}$${b}`],
    [`$2b$15$${'a'.repeat(53)}`],
    [`$2b$31$${'a'.repeat(53)}`],
    [`$scrypt$ln=30,r=8,p=1$${phc(salt)}$${b}`],
    [`$scrypt$ln=99,r=8,p=1$${phc(salt)}$${b}`],
    [`$scrypt$ln=10,r=8,p=99999$${phc(salt)}$${b}`],
    [`$pbkdf2-sha256$i=2000001$${phc(salt)}$${b}`],
    [`$pbkdf2-sha1$i=2000000$${phc(salt)}$${'a'.repeat(80)}`],
    [`pbkdf2_sha256$9999999999$NaCl$${'a'.repeat(43)}=`],
    [`scrypt:1073741824:8:1$NaCl$${'ab'.repeat(32)}`],
  ])('The hash %s needs too much work and is refused without being computed', async (text) => {
    expect(parseImportedHash(text)).toBe('work');
    const workedMs = workTime();
    expect(await hasher.verify(text, password, 'operator')).toBe(false);
    expect(workedMs()).toBeLessThan(2_000);
  });

  it('A wrong password costs the same work for every kind of hash and for no user', async () => {
    const foreign = `$pbkdf2-sha256$i=200000$${phc(salt)}$${b}`;
    const read = readHash(foreign);
    if (typeof read === 'string') throw new Error(read);
    const decoys = async () => [read.profile, 'bcrypt$08'].flatMap((profile) => toDecoyHash(profile) ?? []);
    const uniform = createPasswordHasher({ ...queue, decoys });
    const telling = createPasswordHasher(queue);
    const bcrypted = await bcrypt(password, { cost: 8 });
    const own = await telling.hash(password, 'operator');
    // Other processes do not change the processor time of this process.
    const work = async (verifier: typeof uniform, hash: string | null) => {
      const samples: number[] = [];
      for (let n = 0; n < 3; n += 1) {
        const before = process.cpuUsage();
        expect(await verifier.verify(hash, 'a wrong guess 1', 'operator')).toBe(false);
        const { user, system } = process.cpuUsage(before);
        samples.push(user + system);
      }
      return Math.min(...samples);
    };
    const stranger = await work(uniform, null);
    for (const hash of [foreign, bcrypted, own, 'none at all']) {
      const ratio = (await work(uniform, hash)) / stranger;
      expect(ratio).toBeGreaterThan(0.6);
      expect(ratio).toBeLessThan(1.7);
    }
    // It would have told: the same without.
    expect((await work(telling, foreign)) / (await work(telling, null))).toBeGreaterThan(1.5);
    expect(await uniform.verify(own, password, 'operator')).toBe(true);
    expect(await uniform.verify(bcrypted, password, 'operator')).toBe(true);
  });
});
