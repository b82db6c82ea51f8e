import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Sha256, sha256 } from '../shared/index.ts';
import { deriveKey } from '../store/index.ts';

/** Values that JSON writes in one way only: numbers are safe integers. */
type CanonicalValue = unknown;

/**
 * JSON with sorted keys and without white space (RFC 8785, for values without fractions). Undefined properties are left
 * out.
 * @throws {TypeError} a number that is no safe integer, or a value that JSON does not have
 */
export function canonicalJson(value: CanonicalValue): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (Number.isSafeInteger(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`an event cannot contain a ${typeof value} like this`);
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`).join(',')}}`;
}

/** The digest of the personal part. The salt is deleted with it, so that nothing can be found by trying values. */
export const digestPerson = (salt: string, person: string): Sha256 => sha256(`${salt}\n${person}`);

/** The hash before the first event. */
export const genesis: Sha256 = sha256('Foyer audit trail');

/** A place in the chain: the number of an event, and its hash. */
export interface ChainPoint {
  seq: number;
  chainHash: Sha256;
}

export const start: ChainPoint = { seq: 0, chainHash: genesis };

/** The next point. The serialised body contains no line feed. */
export const linkEvent = (before: ChainPoint, body: string): ChainPoint => ({
  seq: before.seq + 1,
  chainHash: sha256(`${before.chainHash}\n${before.seq + 1}\n${body}`),
});

/** The keys of the checkpoints, newest first: the first one signs, and all verify. */
export const toAuditKeys = (secretKeys: readonly string[]): readonly Buffer[] =>
  secretKeys.map((secretKey) => deriveKey(secretKey, 'audit trail', 32));

const mac = (key: Buffer, name: string, { seq, chainHash }: ChainPoint): Buffer =>
  createHmac('sha256', key).update(`${name}\n${seq}\n${chainHash}`).digest();

/** In place of the signature of a checkpoint that must not be trusted. */
export const unsigned = '';

/** Signs a checkpoint, so that a writer to the database alone cannot make one. */
export function signPoint(keys: readonly Buffer[], name: string, point: ChainPoint): string {
  const [key] = keys;
  if (!key) throw new RangeError('the audit trail needs a key');
  return mac(key, name, point).toString('base64url');
}

export function isSigned(keys: readonly Buffer[], name: string, point: ChainPoint & { mac: string }): boolean {
  const stored = Buffer.from(point.mac, 'base64url');
  return keys.some((key) => stored.length === 32 && timingSafeEqual(mac(key, name, point), stored));
}
