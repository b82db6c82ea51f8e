import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';

/**
 * The ways of browsers (or of callers of the JSON API) from asking for a code to what it opens, by their ids, which are
 * secrets: a code is worth nothing without the id of the flow that asked for it. Each beginning has a new one, so that an
 * id that was planted in a browser leads nowhere.
 */
export interface FlowStore<Flow> {
  newId(): string;
  find(id: string): Promise<Flow | undefined>;
  /** Writes it anew; it lives for its whole time from now on. */
  write(id: string, flow: Flow): Promise<void>;
  /** Changes one that lives; it lives no longer by that. */
  change(id: string, flow: Flow): Promise<void>;
  end(id: string): Promise<void>;
  /** The browser's own, '' without one. */
  idOf(req: Request): string;
  giveTo(res: Response, id: string): void;
  takeFrom(res: Response): void;
}

/** What else is sent is none. */
const idPattern = /^[\w-]{43}$/;

/**
 * @param kind begins the keys in the store
 * @param cookie.maxAgeMs without it the cookie goes when the browser is closed
 */
export function createFlowStore<Flow>(
  kv: KeyValueStore,
  cookies: HostCookies,
  { kind, cookie, keptMs }: { kind: string; cookie: { name: string; maxAgeMs?: number }; keptMs: number },
): FlowStore<Flow> {
  const keyOf = (id: string) => `${kind}:${sha256(id)}`;
  const { name, ...lasting } = cookie;
  return {
    newId: () => randomToken(),
    async find(id) {
      const text = idPattern.test(id) ? await kv.get(keyOf(id)) : null;
      return text === null ? undefined : (JSON.parse(text) as Flow);
    },
    write: (id, flow) => kv.set(keyOf(id), JSON.stringify(flow), keptMs),
    async change(id, flow) {
      await kv.update(keyOf(id), JSON.stringify(flow));
    },
    async end(id) {
      if (idPattern.test(id)) await kv.delete(keyOf(id));
    },
    idOf: (req) => cookies.read(req, name) ?? '',
    giveTo: (res, id) => cookies.set(res, name, id, lasting),
    takeFrom: (res) => cookies.clear(res, name),
  };
}
