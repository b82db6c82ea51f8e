import { pbkdf2, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { hashRaw as rawArgon2, verify as verifyArgon2 } from '@node-rs/argon2';
import { hash as hashBcrypt, verify as verifyBcrypt } from '@node-rs/bcrypt';

/**
 * A password hash in one of the stored formats: PHC strings of argon2, scrypt and pbkdf2, and bcrypt's own. Foyer
 * creates only argon2id; the others belong to imported users, until they first sign in.
 */
export interface StoredHash {
  family: 'argon2' | 'bcrypt' | 'scrypt' | 'pbkdf2';
  /** Its parameters, without salt and result: hashes of one profile cost the same. */
  profile: string;
  verify(password: string): Promise<boolean>;
  /** The text that this password gives with the same parameters and salt. */
  rerender(password: string): Promise<string>;
}

/** Maximum work of a sign-in: about one and a half seconds of a core, and 256 MiB. */
export const maxHashWork = {
  argon2MemoryKib: 262_144,
  /** Memory times passes. */
  argon2Work: 1_048_576,
  argon2Lanes: 16,
  bcryptCost: 14,
  /** 128 · N · r. */
  scryptBytes: 268_435_456,
  /** N · r · p. */
  scryptWork: 2_097_152,
  /** Multiplied by the blocks of the result. */
  pbkdf2Iterations: 2_000_000,
} as const;

/** Size of the result: fewer bytes could match by chance, and no library creates more. */
const [minBytes, maxBytes] = [16, 64];
const maxSaltBytes = 128;

export type HashFault =
  /** An unknown format, or truncated. */
  | 'unknown'
  /** Known, but above `maxHashWork`. */
  | 'work';

const decodeBase64 = (text: string): Buffer => Buffer.from(text, 'base64');
export const phcText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

const alphabet = 'A-Za-z0-9+/';
const shapes = {
  argon2: new RegExp(
    `^\\$argon2(id|i|d)\\$(?:v=(16|19)\\$)?m=(\\d{1,10}),t=(\\d{1,10}),p=(\\d{1,3})\\$([${alphabet}]+)\\$([${alphabet}]+)$`,
  ),
  bcrypt: /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/,
  scrypt: new RegExp(`^\\$scrypt\\$ln=(\\d{1,2}),r=(\\d{1,5}),p=(\\d{1,5})\\$([${alphabet}]+)\\$([${alphabet}]+)$`),
  pbkdf2: new RegExp(`^\\$pbkdf2-(sha1|sha256|sha512)\\$i=(\\d{1,10})\\$([${alphabet}]+)\\$([${alphabet}]+)$`),
};

const sizes = { sha1: 20, sha256: 32, sha512: 64 } as const;
type Digest = keyof typeof sizes;

/** Salt and result as bytes; undefined if they are invalid. */
function parseSaltAndHash(
  salt: string,
  result: string,
  minSaltBytes = 1,
): { salt: Buffer; result: Buffer } | undefined {
  const read = { salt: decodeBase64(salt), result: decodeBase64(result) };
  if (read.salt.length < minSaltBytes || read.salt.length > maxSaltBytes) return undefined;
  return read.result.length >= minBytes && read.result.length <= maxBytes ? read : undefined;
}

/** A library error means that the password was not proven right. */
const orFalse = (job: Promise<boolean>): Promise<boolean> => job.catch(() => false);

type Compute = (done: (error: Error | null, key: Buffer) => void) => void;

function computed(compute: Compute): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  compute((error, key) => (error ? reject(error) : resolve(key)));
  return promise;
}

const same = async (result: Buffer, compute: Compute) => timingSafeEqual(result, await computed(compute));

/** The text with another result. */
const withResult = (text: string, result: Uint8Array) => text.slice(0, text.lastIndexOf('$') + 1) + phcText(result);

function argon2(text: string): StoredHash | HashFault | undefined {
  const [, type = '', version = '16', memory = '', time = '', lanes = '', salt = '', result = ''] =
    shapes.argon2.exec(text) ?? [];
  if (type === '') return undefined;
  const [m, t, p] = [Number(memory), Number(time), Number(lanes)];
  const read = parseSaltAndHash(salt, result, 8);
  if (!read || t < 1 || p < 1 || m < 8 * p) return 'unknown';
  const { argon2MemoryKib, argon2Work, argon2Lanes } = maxHashWork;
  if (m > argon2MemoryKib || m * t > argon2Work || p > argon2Lanes) return 'work';
  const head = `argon2${type}$v=${version}$m=${m},t=${t},p=${p}`;
  return {
    family: 'argon2',
    profile: `${head}$${read.result.length}`,
    verify: (password) => orFalse(verifyArgon2(text, password)),
    async rerender(password) {
      const { salt, result } = read;
      const how = { algorithm: ['d', 'i', 'id'].indexOf(type), version: version === '19' ? 1 : 0, salt };
      const cost = { memoryCost: m, timeCost: t, parallelism: p, outputLen: result.length };
      return withResult(text, await rawArgon2(password, { ...how, ...cost }));
    },
  };
}

function bcrypt(text: string): StoredHash | HashFault | undefined {
  const [, digits = ''] = shapes.bcrypt.exec(text) ?? [];
  if (digits === '') return undefined;
  const cost = Number(digits);
  if (cost < 4 || cost > 31) return 'unknown';
  if (cost > maxHashWork.bcryptCost) return 'work';
  return {
    family: 'bcrypt',
    profile: `bcrypt$${digits}`,
    verify: (password) => orFalse(verifyBcrypt(password, text)),
    // Version, cost and salt are at its beginning.
    rerender: (password) => hashBcrypt(password, { salt: text.slice(0, 29) }),
  };
}

function scryptHash(text: string): StoredHash | HashFault | undefined {
  const [, exponent = '', block = '', lanes = '', salt = '', result = ''] = shapes.scrypt.exec(text) ?? [];
  if (exponent === '') return undefined;
  const [N, r, p] = [2 ** Number(exponent), Number(block), Number(lanes)];
  const read = parseSaltAndHash(salt, result);
  if (!read || N < 2 || r < 1 || p < 1) return 'unknown';
  if (128 * N * r > maxHashWork.scryptBytes || N * r * p > maxHashWork.scryptWork) return 'work';
  // OpenSSL needs slightly more than 128 · N · r.
  const options: ScryptOptions = { N, r, p, maxmem: 128 * N * r + 128 * r * p + 1_048_576 };
  const compute =
    (password: string): Compute =>
    (done) =>
      scrypt(password, read.salt, read.result.length, options, done);
  const head = `scrypt$ln=${Number(exponent)},r=${r},p=${p}`;
  return {
    family: 'scrypt',
    profile: `${head}$${read.result.length}`,
    verify: (password) => orFalse(same(read.result, compute(password))),
    rerender: async (password) => withResult(text, await computed(compute(password))),
  };
}

function pbkdf2Hash(text: string): StoredHash | HashFault | undefined {
  const [, name = '', count = '', salt = '', result = ''] = shapes.pbkdf2.exec(text) ?? [];
  if (name === '') return undefined;
  const digest = name as Digest;
  const iterations = Number(count);
  const read = parseSaltAndHash(salt, result);
  if (!read || iterations < 1) return 'unknown';
  const blocks = Math.ceil(read.result.length / sizes[digest]);
  if (iterations * blocks > maxHashWork.pbkdf2Iterations) return 'work';
  const compute =
    (password: string): Compute =>
    (done) =>
      pbkdf2(password, read.salt, iterations, read.result.length, digest, done);
  const head = `pbkdf2-${digest}$i=${iterations}`;
  return {
    family: 'pbkdf2',
    profile: `${head}$${read.result.length}`,
    verify: (password) => orFalse(same(read.result, compute(password))),
    rerender: async (password) => withResult(text, await computed(compute(password))),
  };
}

/** Reads a stored hash; no password matches a fault. */
export function readHash(text: string): StoredHash | HashFault {
  // No library creates longer texts; this bounds the work of the expressions.
  if (text.length > 512) return 'unknown';
  return argon2(text) ?? bcrypt(text) ?? scryptHash(text) ?? pbkdf2Hash(text) ?? 'unknown';
}

/** A decoy of a profile: to verify it costs as much as any hash of the profile. */
export function toDecoyHash(profile: string): StoredHash | undefined {
  const [, head = '', last = ''] = /^(.*)\$(\d+)$/.exec(profile) ?? [];
  const salt = phcText(Buffer.alloc(16, 1));
  const text =
    head === 'bcrypt'
      ? `$2b$${last}$${'.'.repeat(53)}`
      : `$${head}$${salt}$${phcText(Buffer.alloc(Number(last), 0x5a))}`;
  const read = readHash(text);
  return typeof read === 'string' ? undefined : read;
}
