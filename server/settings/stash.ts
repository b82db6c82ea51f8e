import type { Request, Response } from 'express';
import { field, type HostCookies } from '../http/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';

/** Which fields of a form are kept, and how many characters of each: as many as the form takes. No secrets. */
export type KeptFields = Readonly<Record<string, number>>;

/**
 * What was typed into a form whose sender had to show first who they are: it stands in the form again when they come back.
 * Once, within ten minutes, for the same member in the same browser, in the same form. (Not bound to the session itself:
 * re-authenticating begins a new one.) A member has one at most for each form; a later one takes the place of an earlier.
 */
export interface Stash {
  /** Keeps these fields of the form that was sent. */
  keep(req: Request, res: Response, userId: string, fields: KeptFields): Promise<void>;
  /** What was kept for this page, if anything. */
  take(req: Request, res: Response, userId: string): Promise<Record<string, string> | undefined>;
}

interface Kept {
  /** SHA-256 of the browser's cookie. */
  browser: string;
  typed: Record<string, string>;
}

const cookieName = 'foyer_stash';
const keptMs = 10 * 60_000;

/** @param box seals them: a new address or number is nobody's to read who reads the store */
export function createStash({
  kv,
  cookies,
  contactBox: box,
}: {
  kv: KeyValueStore;
  cookies: HostCookies;
  contactBox: SecretBox;
}): Stash {
  const pageOf = (req: Request) => req.originalUrl.split('?')[0];
  /** Another member, another page: another key. */
  const keyOf = (userId: string, req: Request) => `settings-stash:${sha256(JSON.stringify([userId, pageOf(req)]))}`;
  return {
    async keep(req, res, userId, fields) {
      const typed = Object.fromEntries(
        Object.entries(fields).map(([name, most]) => [name, field(req, name).slice(0, most)]),
      );
      const id = randomToken();
      const key = keyOf(userId, req);
      const kept: Kept = { browser: sha256(id), typed };
      await kv.set(key, box.seal(JSON.stringify(kept), key), keptMs);
      cookies.set(res, cookieName, id, { maxAgeMs: keptMs });
    },
    async take(req, res, userId) {
      const id = cookies.read(req, cookieName);
      if (id === undefined) return undefined;
      const key = keyOf(userId, req);
      const sealed = await kv.get(key);
      if (sealed === null) return undefined;
      const { browser, typed } = JSON.parse(box.open(sealed, key)) as Kept;
      if (browser !== sha256(id)) return undefined;
      // Of two at once one gets it.
      if (!(await kv.compareAndDelete(key, sealed))) return undefined;
      cookies.clear(res, cookieName);
      return typed;
    },
  };
}
