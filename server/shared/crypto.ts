import { createHmac, createSecretKey, hash, randomBytes } from 'node:crypto';

/** 256 random bits in base64url, 43 characters: an id that is a bearer secret, which no one can guess. */
export const randomToken = (): string => randomBytes(32).toString('base64url');

/** SHA-256 in base64url, 43 characters: how ids that are bearer secrets are stored. Not for guessable values. */
export function sha256(value: string): string {
  return hash('sha256', value, 'base64url');
}

/** Names guessable values (addresses, numbers) in a store: without the key nobody can look for one of them there. */
export type KeyedDigest = (value: string) => string;

/** HMAC-SHA-256 in base64url, cut to 192 bits. */
export function keyedDigest(secret: Buffer): KeyedDigest {
  // Raw bytes would be imported anew for every digest.
  const key = createSecretKey(secret);
  return (value) => createHmac('sha256', key).update(value).digest('base64url').slice(0, 32);
}
