import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { consumeLimits, rateLimits } from '../http/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/** A code for one purpose is invalid for another. */
type CodePurpose = 'confirm-email' | 'reset-password' | 'sign-in' | 'mfa-sms' | 'change-email' | 'change-phone';

/**
 * The owner of a code: the browser flow that asked for it, so that no other flow can invalidate it or use its attempts.
 */
interface CodeOwner {
  purpose: CodePurpose;
  /** The flow's id, a secret of one browser (or of one caller of the JSON API). */
  flow: string;
  /** The account of the address or number: counted over all flows. */
  account: string;
  /**
   * A device that has signed in to this account before: counted separately, so that strangers cannot use up its codes.
   */
  device?: string | undefined;
}

export type IssuedCode =
  | { issued: true; code: string; expiresInMs: number }
  /** `wait`: the last one was sent a moment ago; `daily-cap`: the account has reached its daily limit. */
  | { issued: false; why: 'too-soon' | 'daily-limit'; retryAfterMs: number };

/** `gone`: expired, used, replaced, never issued, or too many attempts. */
export type CodeCheck = 'correct' | 'incorrect' | 'invalidated';

export interface Codes {
  /** Makes a code and invalidates the flow's earlier one for this purpose. The caller sends it. */
  issue(owner: CodeOwner): Promise<IssuedCode>;
  /** Checks an attempt. The right code is used up, by exactly one of several parallel attempts. */
  check(owner: Omit<CodeOwner, 'device'>, guess: string): Promise<CodeCheck>;
  /** The flow needs no code any more. */
  forget(owner: Pick<CodeOwner, 'purpose' | 'flow'>): Promise<void>;
  /** A keyed digest of the account, which groups its codes in the outbox. */
  messageGroup(owner: Pick<CodeOwner, 'purpose' | 'account'>): string;
}

const codeDigits = 6;
export const codeMinutes = 10;
const codeMs = codeMinutes * 60_000;

/** Minimum time between two codes of one flow. */
export const resendWaitMs = rateLimits.oneTimeCode.counters[0].window;

/** Seconds until another code can be requested; 0: now. */
export const secondsUntilResend = (sentAtMs: number | undefined, nowMs: number): number => {
  const waitMs = sentAtMs === undefined ? 0 : sentAtMs + resendWaitMs - nowMs;
  // The clock was set back since: the counter in the store decides alone.
  if (waitMs > 2 * resendWaitMs) return 0;
  return Math.max(0, Math.ceil(waitMs / 1000));
};

/** @param key of the HMAC: a plain hash of six digits could be reversed by trying all codes */
export function createCodes({ kv, key }: { kv: KeyValueStore; key: Buffer }): Codes {
  const codeKey = ({ purpose, flow }: Pick<CodeOwner, 'purpose' | 'flow'>) => `code:${purpose}:${digest(flow)}`;
  /** The store contains neither flows nor accounts in plain text. */
  const digest = (text: string) => createHmac('sha256', key).update(text).digest('base64url').slice(0, 32);
  /** Bound to purpose, flow and account: a copy elsewhere in the store is invalid. */
  const seal = ({ purpose, flow, account }: CodeOwner, issue: string, code: string) =>
    `${issue}.${createHmac('sha256', key)
      .update(JSON.stringify([purpose, flow, account, issue, code]))
      .digest('base64url')}`;

  return {
    async issue(owner) {
      const decision = await consumeLimits(kv, rateLimits.oneTimeCode, {
        flow: `${owner.purpose}:${digest(owner.flow)}`,
        account: `${owner.purpose}:${digest(`${owner.account} ${owner.device ?? ''}`)}`,
      });
      if (!decision.allowed) {
        const why = decision.limit === 'flow' ? 'too-soon' : 'daily-limit';
        return { issued: false, why, retryAfterMs: decision.retryAfterMs };
      }
      const code = String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0');
      const issue = randomBytes(12).toString('base64url');
      await kv.set(codeKey(owner), seal(owner, issue, code), codeMs);
      return { issued: true, code, expiresInMs: codeMs };
    },

    async check(owner, guess) {
      const stored = await kv.get(codeKey(owner));
      const issue = stored?.split('.', 1)[0];
      if (stored === null || issue === undefined) return 'invalidated';
      // Counted before it is checked, so that parallel attempts cannot exceed the limit.
      const decision = await consumeLimits(kv, rateLimits.oneTimeCodeGuess, { code: issue });
      if (!decision.allowed) return 'invalidated';
      // One operation compares and deletes: of two parallel right answers one wins.
      if (await kv.compareAndDelete(codeKey(owner), seal(owner, issue, guess))) return 'correct';
      return decision.remaining === 0 ? 'invalidated' : 'incorrect';
    },

    forget: (owner) => kv.delete(codeKey(owner)),

    messageGroup: ({ purpose, account }) => `${purpose}:${digest(`group ${account}`)}`,
  };
}

/**
 * Normalizes a typed code: only digits, and only a complete code (the specification's section 5). Phones and mails add
 * spaces.
 */
export function normaliseCode(typed: string): string | undefined {
  const digits = typed.replace(/[\s-]/g, '');
  return digits.length === codeDigits && /^\d+$/.test(digits) ? digits : undefined;
}
