import { createHash, randomBytes } from 'node:crypto';
import type { Answer } from './answers.ts';
import type { Person } from './people.ts';

/** The request at an authorization endpoint, for its code (RFC 6749, section 4.1). */
export interface Grant {
  clientId: string;
  redirectUri: string;
  scope: string;
  nonce: string | undefined;
  /** RFC 7636, S256. */
  challenge: string | undefined;
  person: Person;
  broken: Answer['broken'];
  idToken?: Answer['idToken'];
  atMs: number;
}

export type RedemptionResult = Grant | 'unknown' | 'used' | 'expired' | 'redirect' | 'verifier';

/** As long as a code of Google is valid. */
const codeMs = 10 * 60_000;
const tokenMs = 60 * 60_000;
const maxEntries = 1_000;

/** Deletes the oldest entry of a full map: a sandbox runs for days. */
function put<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= maxEntries) map.delete(map.keys().next().value ?? '');
  map.set(key, value);
}

export const randomText = (bytes = 32): string => randomBytes(bytes).toString('base64url');

/** One provider's codes and access tokens, in memory. */
export function createGrants(now: () => number) {
  const codes = new Map<string, { grant: Grant; used: boolean }>();
  const tokens = new Map<string, { grant: Grant; atMs: number }>();
  return {
    issueCode(code: string, grant: Grant): string {
      put(codes, code, { grant, used: false });
      return code;
    },
    /** Every check of RFC 6749, section 4.1.3, and RFC 7636, section 4.6. */
    redeem(request: { code: string; clientId: string; redirectUri: string; verifier: string }): RedemptionResult {
      const entry = codes.get(request.code);
      if (!entry || entry.grant.clientId !== request.clientId) return 'unknown';
      const { grant } = entry;
      if (entry.used) return 'used';
      if (now() - grant.atMs > codeMs) return 'expired';
      if (grant.redirectUri !== request.redirectUri) return 'redirect';
      if (grant.challenge !== undefined) {
        const challenge = createHash('sha256').update(request.verifier).digest('base64url');
        if (challenge !== grant.challenge) return 'verifier';
      }
      entry.used = true;
      return grant;
    },
    issueToken(token: string, grant: Grant): string {
      put(tokens, token, { grant, atMs: now() });
      return token;
    },
    byToken(token: string): Grant | undefined {
      const entry = tokens.get(token);
      return entry && now() - entry.atMs <= tokenMs ? entry.grant : undefined;
    },
  };
}
