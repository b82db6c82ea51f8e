import type { Request, Response } from 'express';
import { z } from 'zod';
import type { HostCookies, HttpExchange } from '../http/index.ts';
import { upstreamSessionSchema } from '../sessions/index.ts';
import { type FlowId, minuteMs, userIdSchema } from '../shared/index.ts';
import { acceptFormerNames, browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';
import { methods } from './mfa-preference.ts';

const schema = z.object({
  userId: userIdSchema,
  /** Epoch of the right password: a new password invalidates the challenge. */
  passwordEpoch: z.number(),
  /** `re-authenticate`: the user is signed in and authenticates again. */
  intent: z.enum(['sign-in', 're-authenticate']),
  /** The methods so far (RFC 8176). */
  amr: z.array(z.string()),
  /** The checkbox of the sign-in form. */
  remember: z.boolean(),
  /** The visitor's target (`Continuation.search`). */
  continuation: z.string(),
  /** The provider of the sign-in. */
  upstream: upstreamSessionSchema.optional(),
  /** The method that the page currently asks for. */
  method: z.enum(methods),
  /** Time of the last SMS code; undefined: none could be sent. */
  sentAtMs: z.number().optional(),
  /** Time of the last code that the user requested again. */
  resentAtMs: z.number().optional(),
  expiresAtMs: z.number(),
});

/** A sign-in that waits for the second factor. It has no session, and its data cannot create one. */
export type MfaChallenge = z.infer<typeof schema>;

type NewChallenge = Omit<MfaChallenge, 'expiresAtMs'>;

/**
 * Challenges by their ids, which are secrets of one browser: a record in the key-value store and a host-only cookie.
 * Each start creates a new id, so that a planted or known id is useless.
 */
export interface MfaChallenges {
  newId(): FlowId;
  begin(exchange: HttpExchange, id: FlowId, challenge: NewChallenge): Promise<void>;
  /** The browser's own challenge. */
  current(req: Request): Promise<{ id: FlowId; challenge: MfaChallenge } | undefined>;
  find(id: FlowId): Promise<MfaChallenge | undefined>;
  /** Updates a live challenge without extending it. */
  update(id: FlowId, challenge: MfaChallenge): Promise<void>;
  /** Ends it. @returns true for exactly one of several parallel calls */
  consume(id: FlowId): Promise<boolean>;
  clear(res: Response): void;
}

export const challengeMs = 10 * minuteMs;

interface Settings {
  kv: KeyValueStore;
  /**
   * Seals the records: a continuation names the pending request, and write access to the store must not suffice to
   * forge a challenge.
   */
  box: SecretBox;
  cookies: HostCookies;
  now: () => number;
}

export function createMfaChallenges({ kv, box, cookies, now }: Settings): MfaChallenges {
  const records = browserRecords({
    kv,
    kind: 'mfa-challenge',
    schema: acceptFormerNames(schema, { errand: 'continuation' }),
    ttlMs: challengeMs,
    seal: box,
    cookie: { cookies, name: 'foyer_challenge', maxAgeMs: challengeMs },
  });

  async function find(id: FlowId): Promise<MfaChallenge | undefined> {
    const challenge = await records.find(id);
    return challenge && now() < challenge.expiresAtMs ? challenge : undefined;
  }

  return {
    find,
    newId: records.newId,
    consume: records.delete,
    async begin({ req, res }, id, challenge) {
      await records.write(id, { ...challenge, expiresAtMs: now() + challengeMs });
      await records.delete(records.readCookie(req));
      records.setCookie(res, id);
    },
    async current(req) {
      const id = records.readCookie(req);
      const challenge = await find(id);
      return challenge && { id, challenge };
    },
    update: records.update,
    clear: records.clearCookie,
  };
}
