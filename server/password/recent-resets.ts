import type { Request, Response } from 'express';
import { z } from 'zod';
import type { HostCookies } from '../http/index.ts';
import { minuteMs, userIdSchema } from '../shared/index.ts';
import { browserRecords, type KeyValueStore } from '../store/index.ts';

/**
 * The user who reset their password with a code in this browser, and the time (milliseconds) from which a passkey
 * counts as new.
 */
const schema = z.object({ userId: userIdSchema, sinceMs: z.number() });
export type RecentReset = z.infer<typeof schema>;

/**
 * For ten minutes the browser that has reset a password may remove recently added methods (`security.md`, rule 13).
 * Once.
 */
export interface RecentResets {
  begin(res: Response, just: RecentReset): Promise<void>;
  find(req: Request): Promise<RecentReset | undefined>;
  take(req: Request, res: Response): Promise<RecentReset | undefined>;
}

const ttlMs = 10 * minuteMs;

export function createRecentResets(kv: KeyValueStore, cookies: HostCookies): RecentResets {
  const cookie = { cookies, name: 'foyer_after_reset', maxAgeMs: ttlMs };
  const records = browserRecords({ kv, kind: 'after-reset', schema, ttlMs, cookie });
  return {
    async begin(res, just) {
      records.setCookie(res, await records.create(just));
    },
    find: (req) => records.find(records.readCookie(req)),
    async take(req, res) {
      records.clearCookie(res);
      return records.takeOnce(records.readCookie(req));
    },
  };
}
