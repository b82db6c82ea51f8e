import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { consumeLimits, rateLimits } from '../rate-limits/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/** A code for one purpose is worth nothing for another. */
export type CodePurpose = 'confirm-email' | 'reset-password' | 'sign-in' | 'mfa-sms' | 'change-email' | 'change-phone';

/** What a code belongs to: the browser flow that asked for it, so that nobody else's flow can void it or guess into it. */
export interface CodeOwner {
  purpose: CodePurpose;
  /** The flow's id, a secret of one browser (or of one caller of the JSON API). */
  flow: string;
  /** Whose address or number: counted over all flows. */
  account: string;
  /** A device that has signed in to this account before: counted apart, so that strangers cannot use up its codes. */
  device?: string | undefined;
}

export type IssuedCode =
  | { issued: true; code: string; expiresInMs: number }
  /** `wait`: the last one was sent a moment ago; `daily-cap`: the account has had its share. */
  | { issued: false; why: 'wait' | 'daily-cap'; retryAfterMs: number };

/** `gone`: expired, used, replaced, never issued, or guessed at too often. */
export type CodeCheck = 'right' | 'wrong' | 'gone';

export interface Codes {
  /** Makes a code; the flow's earlier one for this purpose is void. The caller sends it. */
  issue(owner: CodeOwner): Promise<IssuedCode>;
  /** Checks a guess; the right one is used up by it, for exactly one of many at once. */
  check(owner: Omit<CodeOwner, 'device'>, guess: string): Promise<CodeCheck>;
  /** The flow needs no code any more. */
  forget(owner: Pick<CodeOwner, 'purpose' | 'flow'>): Promise<void>;
  /** The same text for the same account, from which nobody without the key finds it: to keep its codes in order by. */
  messageGroup(owner: Pick<CodeOwner, 'purpose' | 'account'>): string;
}

export const codeDigits = 6;
export const codeMinutes = 10;
const codeMs = codeMinutes * 60_000;

/** Between two codes of one flow. */
export const resendWaitMs = rateLimits.oneTimeCode.counters[0].window;

/**
 * @param key of the HMAC: six digits alone could be found from any hash
 */
export function createCodes({ kv, key }: { kv: KeyValueStore; key: Buffer }): Codes {
  const codeKey = ({ purpose, flow }: Pick<CodeOwner, 'purpose' | 'flow'>) => `code:${purpose}:${digest(flow)}`;
  /** Neither flows nor accounts stand in the store as they are. */
  const digest = (text: string) => createHmac('sha256', key).update(text).digest('base64url').slice(0, 32);
  /** Bound to everything that it is for: moved elsewhere in the store it opens nothing. */
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
        const why = decision.limit === 'flow' ? 'wait' : 'daily-cap';
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
      if (stored === null || issue === undefined) return 'gone';
      // Counted before it is looked at, so that guesses at the same moment cannot slip past.
      const decision = await consumeLimits(kv, rateLimits.oneTimeCodeGuess, { code: issue });
      if (!decision.allowed) return 'gone';
      // One operation compares and uses up: of two right answers at once one wins.
      if (await kv.compareAndDelete(codeKey(owner), seal(owner, issue, guess))) return 'right';
      return decision.remaining === 0 ? 'gone' : 'wrong';
    },

    forget: (owner) => kv.delete(codeKey(owner)),

    messageGroup: ({ purpose, account }) => `${purpose}:${digest(`group ${account}`)}`,
  };
}
