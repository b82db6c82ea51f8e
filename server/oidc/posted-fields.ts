import type { IncomingMessage } from 'node:http';
import { type RequestHandler, urlencoded } from 'express';
import { z } from 'zod';
import { HttpError, keepOpener, traitsOfParameters } from '../http/index.ts';
import { minuteMs, sha256 } from '../shared/index.ts';
import { browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';

/** So long a browser has to follow the redirect. */
const ttlMs = minuteMs;
/** The one parameter of the address that it leads to. */
const name = 'posted';
const kind = 'posted-fields';
/** The path, and the fields in their order. */
const schema = z.tuple([z.string(), z.array(z.tuple([z.string(), z.string()]))]);

/** Where the fields are kept that the address of a request names; undefined: it names none. */
export function postedFieldsKey(query: URLSearchParams): string | undefined {
  const id = query.get(name);
  return id === null ? undefined : `${kind}:${sha256(id)}`;
}

export interface PostedFields {
  /** Answers a form by a redirect to the same path, which names the kept fields by a random id alone. */
  keep: RequestHandler[];
  /**
   * Puts the fields into the address of the request that follows, once. Other requests stay as they are.
   * @throws {HttpError} requestExpired
   */
  restore(req: IncomingMessage): Promise<void>;
}

/**
 * Authorization and sign-out may also come as a form from the client app's page (OpenID Connect Core 1.0, section 3.1.2.1;
 * RP-Initiated Logout 1.0, section 2). Such a post from another site carries no `SameSite=Lax` cookies, so it goes on as a
 * GET; its fields, id tokens among them, must not stand in an address, which browsers and proxies write down.
 * @param admit counts a post before it is kept @throws {HttpError}
 */
export function createPostedFields(
  kv: KeyValueStore,
  box: SecretBox,
  admit: (req: IncomingMessage, post: { address: string; bytes: number; ttlMs: number }) => Promise<void>,
): PostedFields {
  const records = browserRecords({ kv, kind, schema, ttlMs, seal: box });
  return {
    keep: [
      (req, _res, next) => {
        // null: there is no body.
        if (req.is('application/x-www-form-urlencoded') === false) throw new HttpError('unsupportedType');
        next();
      },
      urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 }),
      async (req, res) => {
        const fields = Object.entries((req.body ?? {}) as Record<string, string | string[]>);
        const pairs = fields.flatMap(([field, value]) => [value].flat().map((one): [string, string] => [field, one]));
        if (traitsOfParameters(Object.fromEntries(pairs)).popup) keepOpener(res);
        const bytes = 2 * JSON.stringify([req.path, pairs]).length;
        await admit(req, { address: req.ip ?? '', bytes, ttlMs });
        const id = await records.create([req.path, pairs]);
        res.redirect(303, `${req.path}?${new URLSearchParams({ [name]: id })}`);
      },
    ],
    async restore(req) {
      const [path = '', query = ''] = (req.url ?? '').split('?');
      const id = new URLSearchParams(query).get(name);
      if (id === null || req.method !== 'GET') return;
      const [keptPath, pairs] = (await records.takeOnce(id)) ?? [];
      if (pairs === undefined || keptPath !== path)
        throw new HttpError('requestExpired', { detail: 'posted fields are used, too old, or of another path' });
      req.url = `${path}?${new URLSearchParams(pairs)}`;
    },
  };
}
