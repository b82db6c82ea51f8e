import { isWrapped } from './keyed-hashes.ts';
import { type HashFault, phcText, readHash } from './stored-hash.ts';

/** An imported hash, as text or as an object of its parts. */
export type ImportedHashInput = string | Record<string, unknown>;

/** Its stored form, and its profile (`stored-hash.ts`). */
interface ImportedHash {
  text: string;
  profile: string;
}

const words = new TextEncoder();
const hex = (text: string) => (/^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : undefined);
const base64 = (text: string) =>
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text.replace(/-/g, '+').replace(/_/g, '/'), 'base64') : undefined;
/** passlib's own base64. */
const adapted = (text: string) => base64(text.replaceAll('.', '+'));

type MaybeBytes = Uint8Array | undefined;

interface Output {
  salt: MaybeBytes;
  result: MaybeBytes;
}

const pbkdf2Text = (digest: string, iterations: string, { salt, result }: Output) =>
  salt && result && `$pbkdf2-${digest}$i=${iterations}$${phcText(salt)}$${phcText(result)}`;

function scryptText(cost: { N: string; r: string; p: string }, { salt, result }: Output): string | undefined {
  const { N, r, p } = cost;
  const exponent = Math.log2(Number(N));
  if (!Number.isInteger(exponent) || !salt || !result) return undefined;
  return `$scrypt$ln=${exponent},r=${r},p=${p}$${phcText(salt)}$${phcText(result)}`;
}

/** The formats of other frameworks, each with its stored form. Their salts are text, except passlib's. */
const dialects: [shape: RegExp, read: (parts: string[]) => string | undefined][] = [
  // Django: algorithm$iterations$salt$hash
  [
    /^pbkdf2_(sha1|sha256|sha512)\$(\d+)\$([^$]+)\$([^$]+)$/,
    ([d = '', i = '', s = '', h = '']) => pbkdf2Text(d, i, { salt: words.encode(s), result: base64(h) }),
  ],
  [
    /^scrypt\$([^$]+)\$(\d+)\$(\d+)\$(\d+)\$([^$]+)$/,
    ([s = '', N = '', r = '', p = '', h = '']) => scryptText({ N, r, p }, { salt: words.encode(s), result: base64(h) }),
  ],
  [/^bcrypt\$(\$2[aby]\$.+)$/, ([text]) => text],
  [/^argon2(\$argon2.+)$/, ([text]) => text],
  // Werkzeug: method:parameters$salt$hash in hexadecimal digits
  [
    /^pbkdf2:(sha1|sha256|sha512):(\d+)\$([^$]+)\$([^$]+)$/,
    ([d = '', i = '', s = '', h = '']) => pbkdf2Text(d, i, { salt: words.encode(s), result: hex(h) }),
  ],
  [
    /^scrypt:(\d+):(\d+):(\d+)\$([^$]+)\$([^$]+)$/,
    ([N = '', r = '', p = '', s = '', h = '']) => scryptText({ N, r, p }, { salt: words.encode(s), result: hex(h) }),
  ],
  // passlib: $pbkdf2-digest$rounds$salt$hash; without a digest it is SHA-1
  [
    /^\$pbkdf2(?:-(sha256|sha512))?\$(\d+)\$([^$]+)\$([^$]+)$/,
    ([d = 'sha1', i = '', s = '', h = '']) => pbkdf2Text(d, i, { salt: adapted(s), result: adapted(h) }),
  ],
];

function toPhcString(input: string): string {
  for (const [shape, read] of dialects) {
    const found = shape.exec(input);
    // A group without a match means its default.
    if (found) return read(found.slice(1)) ?? '';
  }
  return input;
}

const plain = (value: unknown) =>
  typeof value === 'string' ? value : Number.isSafeInteger(value) ? String(value) : '';

/** `{ algorithm, hash, … }`: argon2 and bcrypt have their parameters in the hash; the two others name them. */
function phcFromParts(input: Record<string, unknown>): string {
  const part = (name: string) => (Object.hasOwn(input, name) ? plain(input[name]) : '');
  const bytes = part('encoding') === 'hex' ? hex : base64;
  const output = { salt: bytes(part('salt')), result: bytes(part('hash')) };
  const digest = part('digest').toLowerCase().replace('-', '');
  switch (part('algorithm').toLowerCase()) {
    case 'argon2':
    case 'argon2i':
    case 'argon2d':
    case 'argon2id':
    case 'bcrypt':
      return part('hash');
    case 'scrypt':
      return scryptText({ N: part('N'), r: part('r'), p: part('p') }, output) ?? '';
    case 'pbkdf2':
      return pbkdf2Text(digest, part('iterations'), output) ?? '';
    default:
      return '';
  }
}

/**
 * Reads an imported hash: PHC strings, bcrypt's, those of Django, Werkzeug and passlib, or an object of parts
 * (docs/coming-from-cognito.md).
 */
export function parseImportedHash(input: ImportedHashInput): ImportedHash | HashFault {
  if (typeof input === 'string' && input.length > 1_000) return 'unknown';
  const text = typeof input === 'string' ? toPhcString(input.trim()) : phcFromParts(input);
  const read = readHash(text);
  return typeof read === 'string' ? read : { text, profile: read.profile };
}

/** Minimum work of an imported hash. The import reports weaker ones, and `foyer doctor` counts those that remain. */
const minWork = { bcryptCost: 10, scryptWork: 2 ** 17, argon2Work: 19_456 * 2, argon2MemoryKib: 7_168 } as const;
/** PBKDF2 by its digest, as OWASP's Password Storage Cheat Sheet recommends. */
const minIterations: Record<string, number> = { sha1: 220_000, sha256: 100_000, sha512: 35_000 };

/** Tests whether hashes of a profile (`stored-hash.ts`) take less work to attack than they should. */
export function isBelowFloor(profile: string): boolean {
  if (isWrapped(profile)) return false;
  const [, cost] = /^bcrypt\$(\d+)$/.exec(profile) ?? [];
  if (cost !== undefined) return Number(cost) < minWork.bcryptCost;
  const [, digest, iterations] = /^pbkdf2-(\w+)\$i=(\d+)\$/.exec(profile) ?? [];
  if (digest !== undefined) return Number(iterations) < (minIterations[digest] ?? Number.POSITIVE_INFINITY);
  const [, exponent, block] = /^scrypt\$ln=(\d+),r=(\d+),/.exec(profile) ?? [];
  if (exponent !== undefined) return 2 ** Number(exponent) * Number(block) < minWork.scryptWork;
  const [, memory, passes] = /^argon2id\$v=19\$m=(\d+),t=(\d+),/.exec(profile) ?? [];
  if (memory === undefined) return true;
  return Number(memory) < minWork.argon2MemoryKib || Number(memory) * Number(passes) < minWork.argon2Work;
}
