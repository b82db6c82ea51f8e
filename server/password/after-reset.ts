import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/** Whose password was set anew by a code in this browser, and since when (milliseconds since the epoch) a passkey is new. */
export interface JustReset {
  userId: string;
  sinceMs: number;
}

/** For ten minutes the browser that has reset a password may remove what was added lately (`security.md`, rule 13). Once. */
export interface AfterReset {
  begin(res: Response, just: JustReset): Promise<void>;
  find(req: Request): Promise<JustReset | undefined>;
  take(req: Request, res: Response): Promise<JustReset | undefined>;
}

const cookieName = 'foyer_after_reset';
const keptMs = 10 * 60_000;

export function createAfterReset(kv: KeyValueStore, cookies: HostCookies): AfterReset {
  const keyOf = (id: string) => `after-reset:${sha256(id)}`;
  const keyFor = (req: Request) => keyOf(cookies.read(req, cookieName) ?? '');
  const read = (text: string | null) => (text === null ? undefined : (JSON.parse(text) as JustReset));
  return {
    async begin(res, just) {
      const id = randomToken();
      await kv.set(keyOf(id), JSON.stringify(just), keptMs);
      cookies.set(res, cookieName, id, { maxAgeMs: keptMs });
    },
    find: async (req) => read(await kv.get(keyFor(req))),
    async take(req, res) {
      cookies.clear(res, cookieName);
      return read(await kv.take(keyFor(req)));
    },
  };
}
