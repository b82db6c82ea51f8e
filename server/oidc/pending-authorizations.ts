import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { z } from 'zod';
import {
  type HostCookies,
  type RequestTraits,
  requestCookie,
  requestCookiePrefix,
  toLifetime,
  toMark,
  visitorRowMs,
} from '../http/index.ts';
import { clientIdSchema, dayMs, sha256, toSealedText } from '../shared/index.ts';
import { type KeyValueStore, parseStored, type SecretBox, storedRecords, UnsealError } from '../store/index.ts';

const begunWithSchema = z.object({
  clientId: clientIdSchema,
  /** The parameters of the request, in the library's order; a repeated parameter has several pairs. */
  params: z.array(z.tuple([z.string(), z.string()])),
  /** It was pushed (RFC 9126), and must be pushed again; `trusted`: by an authenticated client app. */
  pushed: z.object({ trusted: z.boolean() }).optional(),
});

/** The original request: enough to start it again. */
export type OriginalRequest = z.infer<typeof begunWithSchema>;

/** The stored record of the browser in which an authorization request started, and when. */
const rowSchema = z.object({
  /** SHA-256 of the cookie's value. */
  browser: z.string(),
  begunAtMs: z.number(),
});

/** The browser's own sealed copy: enough to start the request again after its record has expired. */
const copySchema = z.object({ begunAtMs: z.number(), begunWith: begunWithSchema });
type PendingCopy = z.infer<typeof copySchema>;

type PendingAuthorizationLookup =
  /**
   * `begunWith`: if absent, it cannot start again; `gone`: the record has expired, and only the browser's copy is left.
   */
  | { state: 'valid'; begunAtMs: number; gone: boolean; begunWith?: OriginalRequest }
  | { state: 'unknown' }
  | { state: 'other-browser' };

export interface PendingAuthorizations {
  /** Binds a new request to this browser. */
  bind(
    req: Request,
    res: Response,
    request: { id: string; begunWith?: OriginalRequest | undefined; traits?: RequestTraits | undefined },
  ): Promise<void>;
  /** Tests whether this browser started the request within the last day. */
  find(req: Request, id: string): Promise<PendingAuthorizationLookup>;
}

interface PendingSettings {
  kv: KeyValueStore;
  box: SecretBox;
  cookies: HostCookies;
  now: () => number;
}

/** Lifetime of a pending request. */
export const pendingTtlMs = visitorRowMs;
/** How long it can start again in the same browser. */
const resumableTtlMs = dayMs;
/** A longer request starts again at its client app. */
const maxCopied = 1_000;
/**
 * Maximum number of requests with a copy in a browser: all its cookies together must fit into one header of a proxy (8
 * KB).
 */
const maxCopies = 2;
/** More than anyone has tabs; the oldest cookies are deleted, so that the header stays small. */
const maxCookies = 12;

const kind = 'authorization-request';
/** The key of the record; the copy is sealed for it too. */
const rowKey = (id: string) => `${kind}:${sha256(id)}`;

/** Each cookie starts with the time of its creation. */
const byAge = ([, a]: [string, string], [, b]: [string, string]) => Number.parseInt(a, 36) - Number.parseInt(b, 36);

/** `<time>.<secret with its traits>`, followed by the sealed copy if there is one. */
function toParts(cookie: string | undefined): { bound: string; secret?: string | undefined; copy: string } {
  const [time = '', secret, ...copy] = (cookie ?? '').split('.');
  return { bound: `${time}.${secret}`, secret, copy: copy.join('.') };
}

/**
 * A pending authorization belongs to one browser: its record in the key-value store and a host-only cookie, which no
 * sibling subdomain can plant, must match. An attacker who sends a request of their own to a victim has the id, but the
 * victim's browser lacks the cookie. The cookie also has the original request, sealed for this id: an expired request
 * can start again (restart-authorization.ts) in that browser only, and the store keeps no copy for a visitor who may
 * never return.
 */
export function createPendingRequests({ kv, box, cookies, now }: PendingSettings): PendingAuthorizations {
  const rows = storedRecords({ kv, kind, schema: rowSchema, ttlMs: pendingTtlMs });

  function toCopy(id: string, sealed: string): PendingCopy | undefined {
    if (sealed === '') return undefined;
    try {
      const copy = parseStored(copySchema, box.open(toSealedText(sealed), rowKey(id)));
      return now() - copy.begunAtMs < resumableTtlMs ? copy : undefined;
    } catch (error) {
      // Sealed with a removed key, for another request, or forged.
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  }

  /** Deletes the oldest cookies, and the older copies, which are long. */
  function removeOldest(req: Request, res: Response, copies: number): void {
    const oldestFirst = cookies.readAll(req, requestCookiePrefix).toSorted(byAge);
    const surplus = Math.max(0, oldestFirst.length - maxCookies + 1);
    for (const [name] of oldestFirst.slice(0, surplus)) cookies.clear(res, name);
    const copied = oldestFirst.slice(surplus).filter(([, value]) => toParts(value).copy !== '');
    for (const [name, value] of copied.slice(0, Math.max(0, copied.length - maxCopies + copies))) {
      cookies.set(res, name, { value: toParts(value).bound, maxAgeMs: resumableTtlMs });
    }
  }

  return {
    async bind(req, res, { id, begunWith, traits }) {
      const secret = randomBytes(24).toString('base64url') + (traits ? toMark(traits) : '');
      const begunAtMs = now();
      await rows.write(sha256(id), { browser: sha256(secret), begunAtMs }, toLifetime(req));
      const isCopied = begunWith !== undefined && JSON.stringify(begunWith).length <= maxCopied;
      removeOldest(req, res, isCopied ? 1 : 0);
      const copy = isCopied
        ? [box.seal(JSON.stringify({ begunAtMs, begunWith } satisfies PendingCopy), rowKey(id))]
        : [];
      const value = [begunAtMs.toString(36), secret, ...copy].join('.');
      cookies.set(res, requestCookie(id), { value, maxAgeMs: resumableTtlMs });
    },
    async find(req, id) {
      const row = await rows.find(sha256(id));
      const { secret, copy: sealed } = toParts(cookies.read(req, requestCookie(id)));
      const copy = toCopy(id, sealed);
      if (!row) return copy ? { state: 'valid', gone: true, ...copy } : { state: 'unknown' };
      const { browser, begunAtMs } = row;
      if (secret === undefined || sha256(secret) !== browser) return { state: 'other-browser' };
      return { state: 'valid', gone: false, begunAtMs, ...(copy && { begunWith: copy.begunWith }) };
    },
  };
}
