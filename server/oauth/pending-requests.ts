import { createHash, randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import { type KeyValueStore, type SecretBox, sha256 } from '../store/index.ts';

/** With what a request began: enough to begin it again. */
export interface BegunWith {
  clientId: string;
  /** The parameters of the request, in the library's order; given several times: several pairs. */
  params: [name: string, value: string][];
  /** It was pushed (RFC 9126), and must be so again; `trusted`: by a client app that had shown who it is. */
  pushed?: { trusted: boolean };
}

/** The row that says in which browser an authorization request began, and when. */
interface PendingRow {
  /** SHA-256 of the cookie's value. */
  browser: string;
  begunAtMs: number;
  /** {@link BegunWith}, sealed: parameters may carry hints and states. Absent: it cannot begin again. */
  begunWith?: string;
}

export type PendingLookup =
  | { state: 'ours'; begunAtMs: number; begunWith?: () => BegunWith }
  | { state: 'unknown' }
  | { state: 'other-browser' };

export interface PendingRequests {
  /** Binds a request that begins now to the browser that is being answered. */
  bind(req: Request, res: Response, id: string, begunWith?: BegunWith): Promise<void>;
  /** Whether this browser began the request, within the last day. */
  find(req: Request, id: string): Promise<PendingLookup>;
}

/** So long a request waits for its member. */
export const pendingTtlMs = 60 * 60 * 1000;
/** So long it can begin again in the same browser. */
const resumableTtlMs = 24 * 60 * 60 * 1000;
/** More is no client app's request: whoever sends it begins anew, and strangers fill no store with a day of it. */
const mostCharacters = 4_000;
const cookiePrefix = 'foyer_request_';
/** More at once than anybody has tabs for; the oldest give way, so that the header stays small. */
const mostCookies = 12;

const rowKey = (id: string) => `authorization-request:${sha256(id)}`;
/** One cookie per request: two tabs of a fresh browser would overwrite one that they share. */
const cookieName = (id: string) => `${cookiePrefix}${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;

/**
 * A pending authorization belongs to one browser (`security.md`, rule 1): its row in the key-value store and a host-only
 * cookie, which no sibling subdomain can plant, must agree. An attacker who sends a request of their own to a victim
 * has the id, but the victim's browser has not the cookie. The row outlives the request, so that one that is over can
 * begin again (begin-again.ts), and only there.
 */
export function createPendingRequests(
  kv: KeyValueStore,
  box: SecretBox,
  cookies: HostCookies,
  now: () => number,
): PendingRequests {
  return {
    async bind(req, res, id, begunWith) {
      const secret = randomBytes(24).toString('base64url');
      const key = rowKey(id);
      const kept = begunWith === undefined ? '' : JSON.stringify(begunWith);
      const isKept = kept !== '' && kept.length <= mostCharacters;
      const row: PendingRow = {
        browser: sha256(secret),
        begunAtMs: now(),
        ...(isKept && { begunWith: box.seal(kept, key) }),
      };
      await kv.set(key, JSON.stringify(row), isKept ? resumableTtlMs : pendingTtlMs);
      const others = cookies.readAll(req, cookiePrefix);
      // The value begins with the time it was made.
      const oldestFirst = others.toSorted(([, a], [, b]) => Number.parseInt(a, 36) - Number.parseInt(b, 36));
      for (const [name] of oldestFirst.slice(0, Math.max(0, others.length - mostCookies + 1))) cookies.clear(res, name);
      cookies.set(res, cookieName(id), `${now().toString(36)}.${secret}`, { maxAgeMs: resumableTtlMs });
    },
    async find(req, id) {
      const key = rowKey(id);
      const value = await kv.get(key);
      if (value === null) return { state: 'unknown' };
      const { browser, begunAtMs, begunWith } = JSON.parse(value) as PendingRow;
      if (now() - begunAtMs >= resumableTtlMs && begunWith !== undefined) return { state: 'unknown' };
      const secret = cookies.read(req, cookieName(id))?.split('.')[1];
      if (secret === undefined || sha256(secret) !== browser) return { state: 'other-browser' };
      if (begunWith === undefined) return { state: 'ours', begunAtMs };
      return { state: 'ours', begunAtMs, begunWith: () => JSON.parse(box.open(begunWith, key)) as BegunWith };
    },
  };
}
