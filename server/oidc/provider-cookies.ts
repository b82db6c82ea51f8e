import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type Provider from 'oidc-provider';
import { deriveKey } from '../store/index.ts';
import { addMiddlewareAt, routes } from './routes-table.ts';

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

const { authorization, code_verification: device } = routes;

/** @param line a Set-Cookie header whose `expires` is in time of this machine */
function withMaxAge(line: string, nowMs: number): string {
  const expires = /;\s*expires=([^;]+)/i.exec(line)?.[1];
  if (expires === undefined || /;\s*max-age=/i.test(line)) return line;
  const seconds = Math.ceil((Date.parse(expires) - nowMs) / 1000);
  return seconds > 0 ? `${line}; max-age=${seconds}` : line;
}

/**
 * The library's cookies only have a date, which a browser compares with its own clock: one that is an hour ahead of
 * Foyer's would forget a request at once. `Max-Age` replaces it (RFC 6265, section 4.1.2.2).
 */
export function giveCookiesMaxAge(provider: Provider): void {
  addMiddlewareAt(provider, [authorization, `${authorization}/`, device, `${device}/`], async ({ res }, next) => {
    await next();
    const lines = res.getHeader('Set-Cookie');
    // Foyer's own pages of errors are sent by now.
    if (res.headersSent || !Array.isArray(lines)) return;
    const nowMs = Date.now();
    res.setHeader(
      'Set-Cookie',
      lines.map((line) => withMaxAge(line, nowMs)),
    );
  });
}
