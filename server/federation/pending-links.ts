import type { Request } from 'express';
import { z } from 'zod';
import type { HostCookies, HttpExchange } from '../http/index.ts';
import { minuteMs, sealedTextSchema, toSealedText, userIdSchema } from '../shared/index.ts';
import { browserRecords, type KeyValueStore, parseStored, type SecretBox } from '../store/index.ts';
import { upstreamIdentitySchema } from './identity.ts';

const schema = z.object({
  userId: userIdSchema,
  identity: upstreamIdentitySchema,
  /** The existing link whose subject may now belong to another person. Undefined: there is none yet. */
  linkId: z.string().optional(),
  /** The visitor's target (`Continuation.search`). */
  errand: z.string(),
  remember: z.boolean().optional(),
  offeredAtMs: z.number(),
});

/**
 * A pending link: a visitor signed in with a provider, and the address belongs to a user. It is made once that user has
 * proven the account in this browser, after this was created, and has agreed.
 */
export type PendingLink = z.infer<typeof schema>;

export interface PendingLinks {
  begin(exchange: HttpExchange, offer: PendingLink): Promise<void>;
  /** The browser's own. */
  current(req: Request): Promise<PendingLink | undefined>;
  /** Deletes it. */
  clear(exchange: HttpExchange): Promise<void>;
}

const ttlMs = 30 * minuteMs;

export function createPendingLinks({
  kv,
  box,
  cookies,
}: {
  kv: KeyValueStore;
  box: SecretBox;
  cookies: HostCookies;
}): PendingLinks {
  const cookie = { cookies, name: 'foyer_link_offer', maxAgeMs: ttlMs };
  const records = browserRecords({ kv, kind: 'link-offer', schema, ttlMs, seal: inEnvelope(box), cookie });
  return {
    async begin({ req, res }, offer) {
      await records.delete(records.readCookie(req));
      records.setCookie(res, await records.create(offer));
    },
    current: (req) => records.find(records.readCookie(req)),
    async clear({ req, res }) {
      await records.delete(records.readCookie(req));
      records.clearCookie(res);
    },
  };
}

const envelope = z.object({ sealed: sealedTextSchema });

/** Pending links are stored as `{ sealed }`; the format stays, so that they survive an upgrade. */
function inEnvelope(box: SecretBox): SecretBox {
  return {
    seal: (plain, aad) => toSealedText(JSON.stringify({ sealed: box.seal(plain, aad) })),
    open: (text, aad) => box.open(parseStored(envelope, text).sealed, aad),
  };
}
