import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import { sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/** How long the sign-in page can be open before a passkey is chosen. */
export const challengeMs = 10 * 60_000;

/** The challenges of the sign-in page (WebAuthn, section 13.4.3). All values are base64url. */
export interface PasskeyChallenges {
  /** A new one. It is not stored, because everyone can load the page and must not fill a store. */
  make(): string;
  /** Tests the signature and the age. */
  isOurs(challenge: string): boolean;
  /** Uses it up, for exactly one of several parallel calls; false if it was used before. */
  use(challenge: string): Promise<boolean>;
}

const randomLength = 16;
const timeLength = 6;
const macLength = 32;

/** @param secret of the HMAC that signs the challenges */
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
      // Another process's clock may be a little ahead.
      return ageMs < challengeMs && ageMs > -60_000;
    },
    // Stored longer than its validity.
    use: (challenge) => kv.setIfAbsent(`passkey-challenge:${sha256(challenge)}`, '1', challengeMs * 2),
  };
}
