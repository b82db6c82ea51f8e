import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import type { UpstreamSession } from '../session/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';
import type { Method } from './methods.ts';

/** A sign-in that has come as far as the second factor. No session exists for it, and nothing in it opens one. */
export interface Challenge {
  userId: string;
  /** Of the password that was right: any other since, and the challenge is void. */
  passwordEpoch: number;
  /** `re-authenticate`: the member is signed in, and is asked again who they are. */
  intent: 'sign-in' | 're-authenticate';
  /** What has been shown so far (RFC 8176). */
  amr: string[];
  /** As it was ticked at the sign-in. */
  remember: boolean;
  /** Where the visitor was going (`Errand.search`). */
  errand: string;
  /** The provider by which the member came. */
  upstream?: UpstreamSession | undefined;
  /** What is asked for at this moment. */
  method: Method;
  /** When the last code was sent to the phone; undefined: none could be. */
  sentAtMs?: number | undefined;
  /** When one was sent again, because the member asked for it. */
  resentAtMs?: number | undefined;
  expiresAtMs: number;
}

export type NewChallenge = Omit<Challenge, 'expiresAtMs'>;

/**
 * Challenges by their ids, which are secrets of one browser: a row in the key-value store and a host-only cookie. Each
 * beginning has a new one, so that an id that was planted in a browser, or was known before, leads nowhere.
 */
export interface Challenges {
  newId(): string;
  begin(req: Request, res: Response, id: string, challenge: NewChallenge): Promise<void>;
  /** The browser's own. */
  of(req: Request): Promise<{ id: string; challenge: Challenge } | undefined>;
  find(id: string): Promise<Challenge | undefined>;
  /** Changes one that lives; it lives no longer by that. */
  keep(id: string, challenge: Challenge): Promise<void>;
  /** Ends it. @returns whether it was this call that did: of many at once, one */
  take(id: string): Promise<boolean>;
  clear(res: Response): void;
}

const cookieName = 'foyer_challenge';
export const challengeMs = 10 * 60_000;
/** What else is sent is none. */
const idPattern = /^[\w-]{43}$/;

interface Settings {
  kv: KeyValueStore;
  /** Seals them: an errand names the request that waits, and who may write to the store must not make a challenge. */
  box: SecretBox;
  cookies: HostCookies;
  now: () => number;
}

export function createChallenges({ kv, box, cookies, now }: Settings): Challenges {
  const keyOf = (id: string) => `mfa-challenge:${sha256(id)}`;
  const own = (req: Request) => cookies.read(req, cookieName) ?? '';

  async function find(id: string): Promise<Challenge | undefined> {
    const sealed = idPattern.test(id) ? await kv.get(keyOf(id)) : null;
    const challenge = sealed === null ? undefined : (JSON.parse(box.open(sealed, keyOf(id))) as Challenge);
    return challenge && now() < challenge.expiresAtMs ? challenge : undefined;
  }

  async function take(id: string): Promise<boolean> {
    return idPattern.test(id) && (await kv.take(keyOf(id))) !== null;
  }

  return {
    find,
    take,
    newId: () => randomToken(),
    async begin(req, res, id, challenge) {
      const whole: Challenge = { ...challenge, expiresAtMs: now() + challengeMs };
      await kv.set(keyOf(id), box.seal(JSON.stringify(whole), keyOf(id)), challengeMs);
      await take(own(req));
      cookies.set(res, cookieName, id, { maxAgeMs: challengeMs });
    },
    async of(req) {
      const id = own(req);
      const challenge = await find(id);
      return challenge && { id, challenge };
    },
    async keep(id, challenge) {
      await kv.update(keyOf(id), box.seal(JSON.stringify(challenge), keyOf(id)));
    },
    clear: (res) => cookies.clear(res, cookieName),
  };
}
