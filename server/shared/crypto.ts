import { createHmac, createSecretKey, hash, randomFillSync } from 'node:crypto';
import { type Sha256, toSha256 } from './ids.ts';

const tokenBytes = 32;
/** Random bytes for many tokens are generated at once; each part is used a single time, and cleared. */
const pool = Buffer.alloc(tokenBytes * 128);
let offset = pool.length;

/** 256 random bits in base64url, 43 characters: an id that is an unguessable bearer secret. */
export function randomToken(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const end = offset + tokenBytes;
  const token = pool.toString('base64url', offset, end);
  pool.fill(0, offset, end);
  offset = end;
  return token;
}

/** SHA-256 in base64url, 43 characters: the stored form of ids that are bearer secrets. Not for guessable values. */
export function sha256(value: string): Sha256 {
  return toSha256(hash('sha256', value, 'base64url'));
}

/** Keyed names of guessable values (addresses, numbers) in a store: without the key they cannot be searched for. */
export type KeyedDigest = (value: string) => string;

/** HMAC-SHA-256 in base64url, cut to 192 bits. */
export function keyedDigest(secret: Buffer): KeyedDigest {
  // Node would import raw bytes again for every digest.
  const key = createSecretKey(secret);
  return (value) => createHmac('sha256', key).update(value).digest('base64url').slice(0, 32);
}
