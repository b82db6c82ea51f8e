import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import { type KeyValueStore, sha256 } from '../store/index.ts';
import { keptMs } from './sign-up-store.ts';

/** The way of one browser (or of one caller of the JSON API) from an account that is not confirmed to one that is. */
export interface Flow {
  /** `sign-up`: an account that was begun; `user`: a member whose address is not confirmed. */
  kind: 'sign-up' | 'user';
  id: string;
  /** As it was ticked at the sign-in that led here. */
  remember: boolean;
  /** When the last code went out; undefined: none could. */
  sentAtMs?: number | undefined;
  /** That one was asked for by Resend. */
  resent?: boolean | undefined;
  /** It is over. */
  confirmedAtMs?: number | undefined;
}

/**
 * Flows by their ids, which are secrets: a code is worth nothing without the id of the flow that asked for it. Each beginning
 * has a new one, so that an id that was planted in a browser leads nowhere.
 */
export interface Flows {
  newId(): string;
  find(id: string): Promise<Flow | undefined>;
  /** Writes it anew; it lives for its whole time again. */
  keep(id: string, flow: Flow): Promise<void>;
  /** The browser's own. */
  of(req: Request): Promise<{ id: string; flow: Flow } | undefined>;
  giveTo(res: Response, id: string): void;
  /** Forgets the browser's own, so that its cookie, wherever else it is, leads nowhere. */
  drop(req: Request): Promise<void>;
  clear(res: Response): void;
}

const cookieName = 'foyer_sign_up';
/** As long as it may be, and not a character longer: what else is sent is none. */
const idPattern = /^[\w-]{43}$/;

export function createFlows(kv: KeyValueStore, cookies: HostCookies): Flows {
  const keyOf = (id: string) => `sign-up-flow:${sha256(id)}`;
  async function find(id: string): Promise<Flow | undefined> {
    if (!idPattern.test(id)) return undefined;
    const text = await kv.get(keyOf(id));
    return text === null ? undefined : (JSON.parse(text) as Flow);
  }
  const own = (req: Request) => cookies.read(req, cookieName) ?? '';
  return {
    find,
    newId: () => randomBytes(32).toString('base64url'),
    keep: (id, flow) => kv.set(keyOf(id), JSON.stringify(flow), keptMs),
    async of(req) {
      const id = own(req);
      const flow = await find(id);
      return flow && { id, flow };
    },
    giveTo: (res, id) => cookies.set(res, cookieName, id),
    async drop(req) {
      const id = own(req);
      if (idPattern.test(id)) await kv.delete(keyOf(id));
    },
    clear: (res) => cookies.clear(res, cookieName),
  };
}
