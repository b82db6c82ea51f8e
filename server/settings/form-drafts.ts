import type { Request, Response } from 'express';
import { z } from 'zod';
import { type HostCookies, readFormField } from '../http/index.ts';
import { minuteMs, randomToken, sha256, type UserId } from '../shared/index.ts';
import { type KeyValueStore, type SecretBox, storedRecords } from '../store/index.ts';

/** Which fields of a form are kept, and how many characters of each: as many as the form takes. No secrets. */
export type KeptFields = Readonly<Record<string, number>>;

/**
 * What was typed into a form whose sender had to show first who they are: it stands in the form again when they come back.
 * Once, within ten minutes, for the same member in the same browser, in the same form. (Not bound to the session itself:
 * re-authenticating begins a new one.) A member has one at most for each form; a later one takes the place of an earlier.
 */
export interface FormDrafts {
  /** Keeps these fields of the form that was sent. */
  saveDraft(req: Request, res: Response, userId: UserId, fields: KeptFields): Promise<void>;
  /** What was kept for this page, if anything. */
  takeDraft(req: Request, res: Response, userId: UserId): Promise<Record<string, string> | undefined>;
}

const schema = z.object({
  /** SHA-256 of the browser's cookie. */
  browser: z.string(),
  typed: z.record(z.string(), z.string()),
});

const cookieName = 'foyer_stash';
const ttlMs = 10 * minuteMs;

/** @param box seals them: a new address or number is nobody's to read who reads the store */
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
  /** Another member, another page: another record. */
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
      // Of two at once one gets it.
      const taken = await records.takeMatching(toName(userId, req), ({ browser }) => browser === sha256(id));
      if (taken) cookies.clear(res, cookieName);
      return taken?.typed;
    },
  };
}
