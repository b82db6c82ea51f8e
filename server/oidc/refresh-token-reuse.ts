import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { calculateJwkThumbprint, decodeProtectedHeader } from 'jose';
import Provider, { type AdapterPayload, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { z } from 'zod';
import type { Sha256 } from '../shared/index.ts';
import { type KeyValueStore, type SecretBox, storedRecords } from '../store/index.ts';
import { addMiddlewareAt, routes } from './routes-table.ts';

/** A retry after a lost answer, or a second tab; a later use is a theft. */
const graceMs = 10_000;
/** How long a request waits for the answer of a parallel one. */
const maxWaitMs = 3_000;
const lookEveryMs = 25;

/**
 * A used refresh token was presented again in time: its request gets the first answer, or an error, but no grant ends.
 */
export class AnsweredBefore extends errors.InvalidGrant {}

const schema = z.object({
  /** Thumbprint of the key of the first request's proof (RFC 9449); null: it had none. */
  jkt: z.string().nullable(),
  body: z.unknown(),
});
type StoredAnswer = z.infer<typeof schema>;

export interface RefreshAnswers {
  /**
   * Judges the second use of a refresh token.
   * @returns `theft`: by another client or key, or too late. `unanswered`: the first use never got an answer, because
   *   its process ended
   * @throws {AnsweredBefore} by the same client and key, in time
   */
  judge(idHash: Sha256, payload: AdapterPayload, usedAtMs: number): Promise<'theft' | 'unanswered'>;
  /** Stores and repeats answers at the token endpoint. */
  attach(provider: Provider, toHash: (id: string) => string): void;
}

/** The proof's signature has been verified before any token is looked up. */
async function findKey(ctx: KoaContextWithOIDC): Promise<string | null> {
  const proof = ctx.get('DPoP');
  const jwk = proof === '' ? undefined : decodeProtectedHeader(proof).jwk;
  return jwk === undefined ? null : calculateJwkThumbprint(jwk);
}

/**
 * Refresh tokens of public clients are used once (RFC 9700, section 4.14.2). A browser app with two tabs, or one whose
 * answer was lost, sends the same one twice within seconds. It gets the same answer again, sealed in the key-value
 * store.
 */
export function createRefreshAnswers(kv: KeyValueStore, box: SecretBox, now: () => number): RefreshAnswers {
  const repeated = new WeakMap<IncomingMessage, unknown>();
  const answers = storedRecords({ kv, kind: 'refresh-answer', schema, ttlMs: graceMs, seal: box });

  /** The first request may still be in progress. */
  async function findAnswer(idHash: Sha256): Promise<StoredAnswer | undefined> {
    for (let waitedMs = 0; waitedMs <= maxWaitMs; waitedMs += lookEveryMs) {
      const answer = await answers.find(idHash);
      if (answer) return answer;
      await sleep(lookEveryMs);
    }
    return undefined;
  }

  return {
    async judge(idHash, payload, usedAtMs) {
      const ctx = Provider.ctx;
      if (ctx?.oidc.client?.clientId !== payload.clientId || now() - usedAtMs >= graceMs) return 'theft';
      const stored = await findAnswer(idHash);
      if (!stored) return 'unanswered';
      if (stored.jkt !== (await findKey(ctx as KoaContextWithOIDC))) return 'theft';
      if (ctx) repeated.set(ctx.req, stored.body);
      throw new AnsweredBefore('refresh token already used');
    },
    attach(provider, toHash) {
      addMiddlewareAt(provider, [routes.token], async (ctx, next) => {
        await next();
        if (ctx.method !== 'POST') return;
        const body = repeated.get(ctx.req);
        if (body !== undefined) {
          ctx.status = 200;
          ctx.body = body;
          return;
        }
        const used = ctx.status === 200 ? ctx.oidc.entities.RotatedRefreshToken : undefined;
        if (used === undefined) return;
        await answers.write(toHash(used.jti), { jkt: await findKey(ctx), body: ctx.body });
      });
    },
  };
}
