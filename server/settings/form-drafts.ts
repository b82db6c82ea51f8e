import type { Request, Response } from 'express';
import { z } from 'zod';
import { type HostCookies, readFormField } from '../http/index.ts';
import { minuteMs, randomToken, sha256, type UserId } from '../shared/index.ts';
import { type KeyValueStore, type SecretBox, storedRecords } from '../store/index.ts';

/** The fields of a form that are kept, with their maximum lengths, as in the form. No secrets. */
export type KeptFields = Readonly<Record<string, number>>;

/**
 * The input of a form whose sender had to authenticate again first: the form shows it when they return. Once, within
 * ten minutes, for the same user in the same browser, in the same form. (Not bound to the session itself, because
 * re-authentication creates a new one.) A user has at most one for each form; a later one replaces an earlier.
 */
export interface FormDrafts {
  /** Stores these fields of the submitted form. */
  saveDraft(req: Request, res: Response, userId: UserId, fields: KeptFields): Promise<void>;
  /** The stored fields for this page, if any. */
  takeDraft(req: Request, res: Response, userId: UserId): Promise<Record<string, string> | undefined>;
}

const schema = z.object({
  /** SHA-256 of the browser's cookie. */
  browser: z.string(),
  typed: z.record(z.string(), z.string()),
});

const cookieName = 'foyer_stash';
const ttlMs = 10 * minuteMs;

/** @param box seals them: a reader of the store must not see a new address or number */
export function createFormDrafts({
  kv,
  cookies,
  contactBox: box,
}: {
  kv: KeyValueStore;
  cookies: HostCookies;
  contactBox: SecretBox;
}): FormDrafts {
  const records = storedRecords({ kv, kind: 'settings-stash', schema, ttlMs, seal: box });
  const requestPath = (req: Request) => req.originalUrl.split('?')[0];
  /** A separate record for each user and page. */
  const toName = (userId: UserId, req: Request) => sha256(JSON.stringify([userId, requestPath(req)]));
  return {
    async saveDraft(req, res, userId, fields) {
      const typed = Object.fromEntries(
        Object.entries(fields).map(([name, max]) => [name, readFormField(req, name).slice(0, max)]),
      );
      const id = randomToken();
      await records.write(toName(userId, req), { browser: sha256(id), typed });
      cookies.set(res, cookieName, id, { maxAgeMs: ttlMs });
    },
    async takeDraft(req, res, userId) {
      const id = cookies.read(req, cookieName);
      if (id === undefined) return undefined;
      // One of two parallel reads gets it.
      const taken = await records.takeMatching(toName(userId, req), ({ browser }) => browser === sha256(id));
      if (taken) cookies.clear(res, cookieName);
      return taken?.typed;
    },
  };
}
