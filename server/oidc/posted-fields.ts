import type { IncomingMessage } from 'node:http';
import { type RequestHandler, urlencoded } from 'express';
import { z } from 'zod';
import { HttpError, keepOpener, traitsOfParameters } from '../http/index.ts';
import { minuteMs, sha256, toFlowId } from '../shared/index.ts';
import { browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';

/** Time for the browser to follow the redirect. */
const ttlMs = minuteMs;
/** The only parameter of the redirect's address. */
const name = 'posted';
const kind = 'posted-fields';
/** The path, and the fields in their order. */
const schema = z.tuple([z.string(), z.array(z.tuple([z.string(), z.string()]))]);

/** The key of the fields that the address of a request names; undefined: it names none. */
export function postedFieldsKey(query: URLSearchParams): string | undefined {
  const id = query.get(name);
  return id === null ? undefined : `${kind}:${sha256(id)}`;
}

export interface PostedFields {
  /** Reads the fields of a form. @throws {HttpError} unsupportedType */
  read: RequestHandler[];
  /** Answers a form by a redirect to the same path with a random id of the stored fields. */
  keep: RequestHandler;
  /**
   * Adds the stored fields to the query of the following request, once. Other requests stay unchanged.
   * @throws {HttpError} requestExpired
   */
  restore(req: IncomingMessage): Promise<void>;
}

/**
 * Authorization and logout requests may also be forms on the client app's page (OpenID Connect Core 1.0, section
 * 3.1.2.1; RP-Initiated Logout 1.0, section 2). Such a cross-site POST carries no `SameSite=Lax` cookies, so it
 * continues as a GET. Its fields, including id tokens, must not appear in an address, which browsers and proxies store.
 * @param admit counts a post before it is stored @throws {HttpError}
 */
export function createPostedFields(
  kv: KeyValueStore,
  box: SecretBox,
  admit: (req: IncomingMessage, post: { address: string; bytes: number; ttlMs: number }) => Promise<void>,
): PostedFields {
  const records = browserRecords({ kv, kind, schema, ttlMs, seal: box });
  return {
    read: [
      (req, _res, next) => {
        // null: the request has no body.
        if (req.is('application/x-www-form-urlencoded') === false) throw new HttpError('unsupportedType');
        next();
      },
      urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 }),
    ],
    keep: async (req, res) => {
      const fields = Object.entries((req.body ?? {}) as Record<string, string | string[]>);
      const pairs = fields.flatMap(([field, value]) => [value].flat().map((one): [string, string] => [field, one]));
      if (traitsOfParameters(Object.fromEntries(pairs)).popup) keepOpener(res);
      const bytes = 2 * JSON.stringify([req.path, pairs]).length;
      await admit(req, { address: req.ip ?? '', bytes, ttlMs });
      const id = await records.create([req.path, pairs]);
      res.redirect(303, `${req.path}?${new URLSearchParams({ [name]: id })}`);
    },
    async restore(req) {
      const [path = '', query = ''] = (req.url ?? '').split('?');
      const id = new URLSearchParams(query).get(name);
      if (id === null || req.method !== 'GET') return;
      const [keptPath, pairs] = (await records.takeOnce(toFlowId(id))) ?? [];
      if (pairs === undefined || keptPath !== path)
        throw new HttpError('requestExpired', { detail: 'posted fields used, expired, or of another path' });
      req.url = `${path}?${new URLSearchParams(pairs)}`;
    },
  };
}
