import type { Request, Response } from 'express';
import { z } from 'zod';
import type { HostCookies } from '../http/index.ts';
import { hourMs, minuteMs, randomToken, sha256 } from '../shared/index.ts';
import { acceptFormerNames, browserRecords, isToken, type KeyValueStore, type SecretBox } from '../store/index.ts';

const intent = z.discriminatedUnion('kind', [
  /** `at`: on which page it was begun, if not on the one for signing in. */
  z.object({ kind: z.literal('sign-in'), at: z.literal('sign-up').optional() }),
  z.object({ kind: z.literal('link'), userId: z.string(), sessionIdHash: z.string() }),
  z.object({ kind: z.literal('re-authenticate'), userId: z.string(), sessionIdHash: z.string() }),
]);

/** What is to come of it. Linking and asking again belong to the session that asked (`security.md`, rule 15). */
export type FederationIntent = z.infer<typeof intent>;

const schema = z.object({
  /** A secret of the browser; `state` or RelayState at the provider. */
  id: z.string(),
  /** The provider's id. */
  provider: z.string(),
  intent,
  /** Where the visitor was going (`Errand.search`). */
  continuation: z.string(),
  /** Its request has `display=popup`. A post from another site brings no cookie that says so. */
  popup: z.literal(true).optional(),
  remember: z.boolean(),
  begunAtMs: z.number(),
  /** It was begun because the provider's form had expired: not a second time, or nobody would ever stop. */
  repeated: z.literal(true).optional(),
  /** See `Kept`. */
  strategyState: z.record(z.string(), z.unknown()),
  /** SHA-256 of the browser's cookie. */
  browser: z.string(),
});

type Row = z.infer<typeof schema>;

/** One way of one tab through one provider. */
export type FederationAttempt = Omit<Row, 'browser'>;

export type AttemptLookup =
  | { state: 'open'; attempt: FederationAttempt }
  /** Used before, or too old: where it led is still known. */
  | { state: 'over'; attempt: FederationAttempt }
  /** Never begun, long gone, of another browser, or of another provider (mix-up): nothing is told of it. */
  | { state: 'foreign' };

/** For how long an answer is taken. */
export const attemptMs = 15 * minuteMs;
/** For how long it is still known where the visitor was going. */
const keptMs = 2 * hourMs;
const cookieName = 'foyer_federation';

/**
 * Attempts, one record each, so that several tabs do not disturb each other. Each belongs to one browser (a host-only
 * cookie that no sibling subdomain can plant) and to one provider, and is answered once.
 */
export interface FederationAttempts {
  newId(): string;
  /** Writes it down and gives the browser its cookie, if it has none. */
  begin(req: Request, res: Response, attempt: Omit<FederationAttempt, 'begunAtMs'>): Promise<void>;
  /** @param options.anyBrowser the request is a post from another site, which brings no cookies: it is checked at the next step */
  find(req: Request, id: string, provider: string, options?: { anyBrowser: true }): Promise<AttemptLookup>;
  /** Uses it up, in one step: of many at once, one gets `open`. */
  take(req: Request, id: string, provider: string): Promise<AttemptLookup>;
  /** Names this browser in what else must be bound to it; undefined before its first attempt. */
  browserHash(req: Request): string | undefined;
}

export function createFederationAttempts({
  kv,
  box,
  cookies,
  now,
}: {
  kv: KeyValueStore;
  box: SecretBox;
  cookies: HostCookies;
  now: () => number;
}): FederationAttempts {
  const records = browserRecords({
    kv,
    kind: 'federation-attempt',
    schema: acceptFormerNames(schema, { errand: 'continuation', kept: 'strategyState' }),
    ttlMs: keptMs,
    seal: box,
  });
  const ownSecret = (req: Request) => {
    const secret = cookies.read(req, cookieName);
    return secret !== undefined && isToken(secret) ? secret : undefined;
  };
  const browserHash = (req: Request) => {
    const secret = ownSecret(req);
    return secret === undefined ? undefined : sha256(secret);
  };

  const toLookup = (row: Row, used: boolean): AttemptLookup => {
    const { browser: _, ...attempt } = row;
    return { state: used || now() - row.begunAtMs > attemptMs ? 'over' : 'open', attempt };
  };

  async function read(req: Request, id: string, provider: string, anyBrowser: boolean) {
    const found = await records.findConsumable(id);
    if (found?.value.provider !== provider) return undefined;
    return anyBrowser || found.value.browser === browserHash(req) ? found : undefined;
  }

  return {
    newId: records.newId,
    browserHash,
    async begin(req, res, attempt) {
      // A planted cookie that is no secret of ours is replaced.
      const secret = ownSecret(req) ?? randomToken();
      cookies.set(res, cookieName, secret, { maxAgeMs: keptMs });
      await records.write(attempt.id, { ...attempt, begunAtMs: now(), browser: sha256(secret) });
    },
    async find(req, id, provider, options) {
      const found = await read(req, id, provider, options?.anyBrowser === true);
      return found ? toLookup(found.value, found.isUsed) : { state: 'foreign' };
    },
    async take(req, id, provider) {
      const found = await read(req, id, provider, false);
      return found ? toLookup(found.value, !(await records.consume(id))) : { state: 'foreign' };
    },
  };
}
