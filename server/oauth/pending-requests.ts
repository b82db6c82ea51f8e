import { createHash, randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import { type KeyValueStore, sha256 } from '../store/index.ts';

/** The row that says in which browser an authorization request began, and when. */
interface PendingRow {
  /** SHA-256 of the cookie's value. */
  browser: string;
  begunAtMs: number;
}

export type PendingLookup = { state: 'ours'; begunAtMs: number } | { state: 'unknown' } | { state: 'other-browser' };

export interface PendingRequests {
  /** Binds a request that begins now to the browser that is being answered. */
  bind(req: Request, res: Response, id: string): Promise<void>;
  /** Whether this browser began the request. */
  find(req: Request, id: string): Promise<PendingLookup>;
}

export const pendingTtlMs = 60 * 60 * 1000;
const cookiePrefix = 'foyer_request_';
/** More at once than anybody has tabs for; the oldest give way, so that the header stays small. */
const mostCookies = 12;

const rowKey = (id: string) => `authorization-request:${sha256(id)}`;
/** One cookie per request: two tabs of a fresh browser would overwrite one that they share. */
const cookieName = (id: string) => `${cookiePrefix}${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;

/**
 * A pending authorization belongs to one browser (`security.md`, rule 1): its row in the key-value store and a host-only
 * cookie, which no sibling subdomain can plant, must agree. An attacker who sends a request of their own to a victim
 * has the id, but the victim's browser has not the cookie.
 */
export function createPendingRequests(kv: KeyValueStore, cookies: HostCookies, now: () => number): PendingRequests {
  return {
    async bind(req, res, id) {
      const secret = randomBytes(24).toString('base64url');
      const row: PendingRow = { browser: sha256(secret), begunAtMs: now() };
      await kv.set(rowKey(id), JSON.stringify(row), pendingTtlMs);
      const others = cookies.readAll(req, cookiePrefix);
      // The value begins with the time it was made.
      const oldestFirst = others.toSorted(([, a], [, b]) => Number.parseInt(a, 36) - Number.parseInt(b, 36));
      for (const [name] of oldestFirst.slice(0, Math.max(0, others.length - mostCookies + 1))) cookies.clear(res, name);
      cookies.set(res, cookieName(id), `${now().toString(36)}.${secret}`, { maxAgeMs: pendingTtlMs });
    },
    async find(req, id) {
      const value = await kv.get(rowKey(id));
      if (value === null) return { state: 'unknown' };
      const row = JSON.parse(value) as PendingRow;
      const secret = cookies.read(req, cookieName(id))?.split('.')[1];
      if (secret === undefined || sha256(secret) !== row.browser) return { state: 'other-browser' };
      return { state: 'ours', begunAtMs: row.begunAtMs };
    },
  };
}
