import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../store/index.ts';

/** The interface that the `cookies` library requires (that of `keygrip`). */
interface CookieSignatures {
  sign(text: string): string;
  /** The index of the key that made the signature, from the newest; -1: no key of Foyer. */
  index(text: string, signature: string): number;
  verify(text: string, signature: string): boolean;
}

/**
 * Signatures of the provider's cookies, HMAC-SHA-256. `keygrip` itself uses SHA-1 and compares with two more HMACs
 * under a random key, which took a quarter of the time of a silent sign-on. The keys are derived for this purpose only:
 * `express-session` also signs with HMAC-SHA-256, and a signature must never be valid for both.
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
