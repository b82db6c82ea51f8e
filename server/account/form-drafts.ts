import { z } from 'zod';
import { minuteMs, randomToken, sha256 } from '../shared/index.ts';
import type { UserRequest } from '../sign-in/index.ts';
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
  saveDraft(r: UserRequest, fields: KeptFields): Promise<void>;
  /** The stored fields for this page, if any. */
  takeDraft(r: UserRequest): Promise<Record<string, string> | undefined>;
}

const schema = z.object({
  /** SHA-256 of the browser's cookie. */
  browser: z.string(),
  typed: z.record(z.string(), z.string()),
});

const cookieName = 'foyer_stash';
const ttlMs = 10 * minuteMs;

/** @param box seals them: a reader of the store must not see a new address or number */
export function createFormDrafts({ kv, contactBox: box }: { kv: KeyValueStore; contactBox: SecretBox }): FormDrafts {
  const records = storedRecords({ kv, kind: 'settings-stash', schema, ttlMs, seal: box });
  /** A separate record for each user and page. */
  const toName = ({ user, req }: UserRequest) => sha256(JSON.stringify([user.id, req.originalUrl.split('?')[0]]));
  return {
    async saveDraft(r, fields) {
      const typed = Object.fromEntries(
        Object.entries(fields).map(([name, max]) => [name, r.field(name).slice(0, max)]),
      );
      const id = randomToken();
      await records.write(toName(r), { browser: sha256(id), typed });
      r.setCookie(cookieName, id, { maxAgeMs: ttlMs });
    },
    async takeDraft(r) {
      const id = r.cookie(cookieName);
      if (id === undefined) return undefined;
      // One of two parallel reads gets it.
      const taken = await records.takeMatching(toName(r), ({ browser }) => browser === sha256(id));
      if (taken) r.clearCookie(cookieName);
      return taken?.typed;
    },
  };
}
