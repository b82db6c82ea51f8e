import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { type HostCookies, type RequestTraits, requestCookie, requestCookiePrefix, toMark } from '../http/index.ts';
import { toLifetime, visitorRowMs } from '../rate-limits/index.ts';
import { dayMs, sha256 } from '../shared/index.ts';
import { type KeyValueStore, parseStored, type SecretBox, storedRecords, UnsealError } from '../store/index.ts';

const begunWithSchema = z.object({
  clientId: z.string(),
  /** The parameters of the request, in the library's order; given several times: several pairs. */
  params: z.array(z.tuple([z.string(), z.string()])),
  /** It was pushed (RFC 9126), and must be so again; `trusted`: by a client app that had shown who it is. */
  pushed: z.object({ trusted: z.boolean() }).optional(),
});

/** The content with which a request began: enough to begin it again. */
export type OriginalRequest = z.infer<typeof begunWithSchema>;

/** The row that says in which browser an authorization request began, and when. */
const rowSchema = z.object({
  /** SHA-256 of the cookie's value. */
  browser: z.string(),
  begunAtMs: z.number(),
});

/** The browser's own copy, sealed: enough to begin the request again when its row is gone. */
const copySchema = z.object({ begunAtMs: z.number(), begunWith: begunWithSchema });
type PendingCopy = z.infer<typeof copySchema>;

export type PendingAuthorizationLookup =
  /** `begunWith`: absent, it cannot begin again; `gone`: the row has expired, and only the browser's copy is left. */
  | { state: 'ours'; begunAtMs: number; gone: boolean; begunWith?: OriginalRequest }
  | { state: 'unknown' }
  | { state: 'other-browser' };

export interface PendingAuthorizations {
  /** Binds a request that begins now to the browser that is being answered. */
  bind(
    req: Request,
    res: Response,
    request: { id: string; begunWith?: OriginalRequest | undefined; traits?: RequestTraits | undefined },
  ): Promise<void>;
  /** Whether this browser began the request, within the last day. */
  find(req: Request, id: string): Promise<PendingAuthorizationLookup>;
}

/** So long a request waits for its member. */
export const pendingTtlMs = visitorRowMs;
/** So long it can begin again in the same browser. */
const resumableTtlMs = dayMs;
/** A longer request begins anew at its client app. */
const maxCopied = 1_000;
/** So many of a browser's requests have a copy: all its cookies together must fit into one header of a proxy (8 KB). */
const maxCopies = 2;
/** More at once than anybody has tabs for; the oldest give way, so that the header stays small. */
const maxCookies = 12;

const kind = 'authorization-request';
/** Where the row is stored, and to which place the copy is sealed. */
const rowKey = (id: string) => `${kind}:${sha256(id)}`;

/** Each begins with the time at which it was made. */
const byAge = ([, a]: [string, string], [, b]: [string, string]) => Number.parseInt(a, 36) - Number.parseInt(b, 36);

/** `<time>.<secret with its traits>`, and behind them the sealed copy where there is one. */
function toParts(cookie: string | undefined): { bound: string; secret?: string | undefined; copy: string } {
  const [time = '', secret, ...copy] = (cookie ?? '').split('.');
  return { bound: `${time}.${secret}`, secret, copy: copy.join('.') };
}

/**
 * A pending authorization belongs to one browser: its row in the key-value store and a host-only cookie, which no sibling
 * subdomain can plant, must agree. An attacker who sends a request of their own to a victim has the id, but the victim's
 * browser has not the cookie. The cookie also has what the request began with, sealed for this id: so a request that is
 * over begins again (restart-authorization.ts) in that browser alone, and the store keeps no copy for a visitor who may never come.
 */
export function createPendingRequests(
  kv: KeyValueStore,
  box: SecretBox,
  cookies: HostCookies,
  now: () => number,
): PendingAuthorizations {
  const rows = storedRecords({ kv, kind, schema: rowSchema, ttlMs: pendingTtlMs });

  function toCopy(id: string, sealed: string): PendingCopy | undefined {
    if (sealed === '') return undefined;
    try {
      const copy = parseStored(copySchema, box.open(sealed, rowKey(id)));
      return now() - copy.begunAtMs < resumableTtlMs ? copy : undefined;
    } catch (error) {
      // Of a key that is gone, of another request, or written by somebody else.
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  }

  /** The oldest cookies make room, and older copies, which are long. */
  function makeRoom(req: Request, res: Response, copies: number): void {
    const oldestFirst = cookies.readAll(req, requestCookiePrefix).toSorted(byAge);
    const surplus = Math.max(0, oldestFirst.length - maxCookies + 1);
    for (const [name] of oldestFirst.slice(0, surplus)) cookies.clear(res, name);
    const copied = oldestFirst.slice(surplus).filter(([, value]) => toParts(value).copy !== '');
    for (const [name, value] of copied.slice(0, Math.max(0, copied.length - maxCopies + copies))) {
      cookies.set(res, name, toParts(value).bound, { maxAgeMs: resumableTtlMs });
    }
  }

  return {
    async bind(req, res, { id, begunWith, traits }) {
      const secret = randomBytes(24).toString('base64url') + (traits ? toMark(traits) : '');
      const begunAtMs = now();
      await rows.write(sha256(id), { browser: sha256(secret), begunAtMs }, toLifetime(req));
      const isCopied = begunWith !== undefined && JSON.stringify(begunWith).length <= maxCopied;
      makeRoom(req, res, isCopied ? 1 : 0);
      const copy = isCopied
        ? [box.seal(JSON.stringify({ begunAtMs, begunWith } satisfies PendingCopy), rowKey(id))]
        : [];
      const value = [begunAtMs.toString(36), secret, ...copy].join('.');
      cookies.set(res, requestCookie(id), value, { maxAgeMs: resumableTtlMs });
    },
    async find(req, id) {
      const row = await rows.find(sha256(id));
      const { secret, copy: sealed } = toParts(cookies.read(req, requestCookie(id)));
      const copy = toCopy(id, sealed);
      if (!row) return copy ? { state: 'ours', gone: true, ...copy } : { state: 'unknown' };
      const { browser, begunAtMs } = row;
      if (secret === undefined || sha256(secret) !== browser) return { state: 'other-browser' };
      return { state: 'ours', gone: false, begunAtMs, ...(copy && { begunWith: copy.begunWith }) };
    },
  };
}
