import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import { sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/** As long as the sign-in page may stand open before its passkey is chosen. */
export const challengeMs = 10 * 60_000;

/** The challenges of the sign-in page (WebAuthn, section 13.4.3). All values are base64url. */
export interface PasskeyChallenges {
  /** A new one. Nothing is kept of it: the page is open to everybody, and must not fill a store. */
  make(): string;
  /** Whether it is one of ours, and not too old. */
  isOurs(challenge: string): boolean;
  /** Uses it up, for exactly one of many at once; false when it was used before. */
  use(challenge: string): Promise<boolean>;
}

const randomLength = 16;
const timeLength = 6;
const macLength = 32;

/** @param secret of the HMAC by which our own challenges are known */
export function createPasskeyChallenges({
  kv,
  secret,
  now,
}: {
  kv: KeyValueStore;
  secret: Buffer;
  now: () => number;
}): PasskeyChallenges {
  const key = createSecretKey(secret);
  const challengeMac = (body: Buffer) => createHmac('sha256', key).update(body).digest();
  return {
    make() {
      const body = Buffer.alloc(randomLength + timeLength);
      randomBytes(randomLength).copy(body);
      body.writeUIntBE(now(), randomLength, timeLength);
      return Buffer.concat([body, challengeMac(body)]).toString('base64url');
    },
    isOurs(challenge) {
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length !== randomLength + timeLength + macLength) return false;
      const body = bytes.subarray(0, randomLength + timeLength);
      if (!timingSafeEqual(bytes.subarray(body.length), challengeMac(body))) return false;
      const ageMs = now() - body.readUIntBE(randomLength, timeLength);
      // Another process's clock may go a little ahead.
      return ageMs < challengeMs && ageMs > -60_000;
    },
    // Kept for longer than it is good for.
    use: (challenge) => kv.setIfAbsent(`passkey-challenge:${sha256(challenge)}`, '1', challengeMs * 2),
  };
}
