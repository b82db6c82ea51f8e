import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import { randomToken, sha256 } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';
import type { Kept } from './strategy.ts';

/** What is to come of it. Linking and asking again belong to the session that asked (`security.md`, rule 15). */
export type Intent =
  /** `at`: on which page it was begun, if not on the one for signing in. */
  | { kind: 'sign-in'; at?: 'sign-up' | undefined }
  | { kind: 'link'; userId: string; sessionIdHash: string }
  | { kind: 're-authenticate'; userId: string; sessionIdHash: string };

/** One way of one tab through one provider. */
export interface Attempt {
  /** A secret of the browser; `state` or RelayState at the provider. */
  id: string;
  /** The provider's id. */
  provider: string;
  intent: Intent;
  /** Where the visitor was going (`Errand.search`). */
  errand: string;
  /** Its request has `display=popup`. A post from another site brings no cookie that says so. */
  popup?: true | undefined;
  remember: boolean;
  begunAtMs: number;
  /** It was begun because the provider's form had expired: not a second time, or nobody would ever stop. */
  repeated?: true | undefined;
  kept: Kept;
}

export type AttemptFound =
  | { state: 'open'; attempt: Attempt }
  /** Used before, or too old: where it led is still known. */
  | { state: 'over'; attempt: Attempt }
  /** Never begun, long gone, of another browser, or of another provider (mix-up): nothing is told of it. */
  | { state: 'foreign' };

/** For how long an answer is taken. */
export const attemptMs = 15 * 60_000;
/** For how long it is still known where the visitor was going. */
const keptMs = 2 * 60 * 60_000;
const cookieName = 'foyer_federation';
const idPattern = /^[\w-]{43}$/;

interface Row extends Attempt {
  /** SHA-256 of the browser's cookie. */
  browser: string;
}

/**
 * Attempts, one record each, so that several tabs do not disturb each other. Each belongs to one browser (a host-only
 * cookie that no sibling subdomain can plant) and to one provider, and is answered once.
 */
export interface Attempts {
  newId(): string;
  /** Writes it down and gives the browser its cookie, if it has none. */
  begin(req: Request, res: Response, attempt: Omit<Attempt, 'begunAtMs'>): Promise<void>;
  /** @param options.anyBrowser the request is a post from another site, which brings no cookies: it is checked at the next step */
  find(req: Request, id: string, provider: string, options?: { anyBrowser: true }): Promise<AttemptFound>;
  /** Uses it up, in one step: of many at once, one gets `open`. */
  take(req: Request, id: string, provider: string): Promise<AttemptFound>;
  /** Names this browser in what else must be bound to it; undefined before its first attempt. */
  browserOf(req: Request): string | undefined;
}

export function createAttempts({
  kv,
  box,
  cookies,
  now,
}: {
  kv: KeyValueStore;
  box: SecretBox;
  cookies: HostCookies;
  now: () => number;
}): Attempts {
  const keyOf = (id: string) => `federation-attempt:${sha256(id)}`;
  const browserOf = (req: Request) => {
    const secret = cookies.read(req, cookieName);
    return secret !== undefined && idPattern.test(secret) ? sha256(secret) : undefined;
  };

  const judge = (row: Row, used: boolean): AttemptFound => {
    const { browser: _, ...attempt } = row;
    return { state: used || now() - row.begunAtMs > attemptMs ? 'over' : 'open', attempt };
  };

  async function read(req: Request, id: string, provider: string, anyBrowser: boolean) {
    const found = idPattern.test(id) ? await kv.getConsumable(keyOf(id)) : null;
    if (!found) return undefined;
    const row = JSON.parse(box.open(found.value, keyOf(id))) as Row;
    if (row.provider !== provider) return undefined;
    if (!anyBrowser && row.browser !== browserOf(req)) return undefined;
    return { row, used: found.consumedAt !== null };
  }

  return {
    newId: () => randomToken(),
    browserOf,
    async begin(req, res, attempt) {
      const known = cookies.read(req, cookieName);
      const secret = known !== undefined && idPattern.test(known) ? known : randomToken();
      cookies.set(res, cookieName, secret, { maxAgeMs: keptMs });
      const row: Row = { ...attempt, begunAtMs: now(), browser: sha256(secret) };
      await kv.set(keyOf(attempt.id), box.seal(JSON.stringify(row), keyOf(attempt.id)), keptMs);
    },
    async find(req, id, provider, options) {
      const found = await read(req, id, provider, options?.anyBrowser === true);
      return found ? judge(found.row, found.used) : { state: 'foreign' };
    },
    async take(req, id, provider) {
      const found = await read(req, id, provider, false);
      if (!found) return { state: 'foreign' };
      const { state } = await kv.consume(keyOf(id));
      return judge(found.row, state !== 'consumed');
    },
  };
}
