import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../store/index.ts';

/** What the `cookies` library asks for (the contract of `keygrip`). */
export interface CookieSignatures {
  sign(text: string): string;
  /** The key that made the signature, counted from the newest; -1: none of ours. */
  index(text: string, signature: string): number;
  verify(text: string, signature: string): boolean;
}

/**
 * Signatures of the provider's cookies, HMAC-SHA-256. `keygrip` itself uses SHA-1 and compares through two more HMACs with
 * a random key, which took a quarter of a silent sign-on. The keys are derived for this alone: `express-session` signs its cookie
 * by HMAC-SHA-256 too, and no signature of one may ever fit the other.
 *
 * @param secrets the newest first: the first signs, all verify
 */
export function cookieSignatures(secrets: readonly string[]): CookieSignatures {
  const keys = secrets.map((secret) => createSecretKey(deriveKey(secret, 'provider cookies', 32)));
  const digest = (key: (typeof keys)[number], text: string) => createHmac('sha256', key).update(text).digest();
  const [newest] = keys;
  if (!newest) throw new RangeError('Cookies need a key');

  function index(text: string, signature: string): number {
    const input = Buffer.from(signature, 'base64url');
    return keys.findIndex((key) => {
      const ours = digest(key, text);
      return input.length === ours.length && timingSafeEqual(input, ours);
    });
  }

  return {
    sign: (text) => digest(newest, text).toString('base64url'),
    index,
    verify: (text, signature) => index(text, signature) !== -1,
  };
}
