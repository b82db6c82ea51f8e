import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { field, type HostCookies } from '../http/index.ts';
import { type KeyValueStore, type SecretBox, sha256 } from '../store/index.ts';

/**
 * What was typed into a form whose sender had to show first who they are: it stands in the form again when they come back.
 * Once, within ten minutes, for the same member in the same browser, in the same form. (Not bound to the session itself:
 * re-authenticating begins a new one.)
 */
export interface Stash {
  /** Keeps these fields of the form that was sent; name no secrets. */
  keep(req: Request, res: Response, userId: string, names: readonly string[]): Promise<void>;
  /** What was kept for this page, if anything. */
  take(req: Request, res: Response, userId: string): Promise<Record<string, string> | undefined>;
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
  /** Another member, another page, another browser: another key. */
  const keyOf = (id: string, userId: string, req: Request) =>
    `settings-stash:${sha256(JSON.stringify([id, userId, pageOf(req)]))}`;
  return {
    async keep(req, res, userId, names) {
      const typed = Object.fromEntries(names.map((name) => [name, field(req, name)]));
      const id = randomBytes(32).toString('base64url');
      const key = keyOf(id, userId, req);
      await kv.set(key, box.seal(JSON.stringify(typed), key), keptMs);
      cookies.set(res, cookieName, id, { maxAgeMs: keptMs });
    },
    async take(req, res, userId) {
      const id = cookies.read(req, cookieName);
      if (id === undefined) return undefined;
      const key = keyOf(id, userId, req);
      const sealed = await kv.take(key);
      if (sealed === null) return undefined;
      cookies.clear(res, cookieName);
      return JSON.parse(box.open(sealed, key)) as Record<string, string>;
    },
  };
}
