import { createHmac, createSecretKey, hash, randomBytes } from 'node:crypto';
import { type Sha256, toSha256 } from './ids.ts';

/** 256 random bits in base64url, 43 characters: an id that is an unguessable bearer secret. */
export const randomToken = (): string => randomBytes(32).toString('base64url');

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
