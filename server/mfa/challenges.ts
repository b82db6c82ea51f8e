import type { Request, Response } from 'express';
import { z } from 'zod';
import type { HostCookies } from '../http/index.ts';
import { upstreamSessionSchema } from '../sessions/index.ts';
import { minuteMs } from '../shared/index.ts';
import { acceptFormerNames, browserRecords, type KeyValueStore, type SecretBox } from '../store/index.ts';
import { methods } from './challenge-methods.ts';

const schema = z.object({
  userId: z.string(),
  /** Of the password that was right: any other since, and the challenge is void. */
  passwordEpoch: z.number(),
  /** `re-authenticate`: the member is signed in, and is asked again who they are. */
  intent: z.enum(['sign-in', 're-authenticate']),
  /** What has been shown so far (RFC 8176). */
  amr: z.array(z.string()),
  /** As it was ticked at the sign-in. */
  remember: z.boolean(),
  /** Where the visitor was going (`Errand.search`). */
  continuation: z.string(),
  /** The provider by which the member came. */
  upstream: upstreamSessionSchema.optional(),
  /** What is asked for at this moment. */
  method: z.enum(methods),
  /** When the last code was sent to the phone; undefined: none could be. */
  sentAtMs: z.number().optional(),
  /** When one was sent again, because the member asked for it. */
  resentAtMs: z.number().optional(),
  expiresAtMs: z.number(),
});

/** A sign-in that has come as far as the second factor. No session exists for it, and nothing in it opens one. */
export type MfaChallenge = z.infer<typeof schema>;

export type NewChallenge = Omit<MfaChallenge, 'expiresAtMs'>;

/**
 * Challenges by their ids, which are secrets of one browser: a row in the key-value store and a host-only cookie. Each
 * beginning has a new one, so that an id that was planted in a browser, or was known before, leads nowhere.
 */
export interface MfaChallenges {
  newId(): string;
  begin(req: Request, res: Response, id: string, challenge: NewChallenge): Promise<void>;
  /** The browser's own. */
  current(req: Request): Promise<{ id: string; challenge: MfaChallenge } | undefined>;
  find(id: string): Promise<MfaChallenge | undefined>;
  /** Changes one that lives; it lives no longer by that. */
  update(id: string, challenge: MfaChallenge): Promise<void>;
  /** Ends it. @returns whether it was this call that did: of many at once, one */
  consume(id: string): Promise<boolean>;
  clear(res: Response): void;
}

export const challengeMs = 10 * minuteMs;

interface Settings {
  kv: KeyValueStore;
  /** Seals them: an errand names the request that waits, and who may write to the store must not make a challenge. */
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

  async function find(id: string): Promise<MfaChallenge | undefined> {
    const challenge = await records.find(id);
    return challenge && now() < challenge.expiresAtMs ? challenge : undefined;
  }

  return {
    find,
    newId: records.newId,
    consume: records.delete,
    async begin(req, res, id, challenge) {
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
