import type { Request } from 'express';
import { z } from 'zod';
import type { HostCookies, HttpExchange } from '../http/index.ts';
import {
  type FlowId,
  flowIdSchema,
  hourMs,
  minuteMs,
  type ProviderId,
  providerIdSchema,
  randomToken,
  sessionIdHashSchema,
  sha256,
  userIdSchema,
} from '../shared/index.ts';
import { acceptFormerNames, browserRecords, isToken, type KeyValueStore, type SecretBox } from '../store/index.ts';

const intent = z.discriminatedUnion('kind', [
  /** `at`: the page on which it was started, if not the sign-in page. */
  z.object({ kind: z.literal('sign-in'), at: z.literal('sign-up').optional() }),
  z.object({ kind: z.literal('link'), userId: userIdSchema, sessionIdHash: sessionIdHashSchema }),
  z.object({ kind: z.literal('re-authenticate'), userId: userIdSchema, sessionIdHash: sessionIdHashSchema }),
]);

/**
 * The purpose of an attempt. Linking and re-authentication belong to the session that started them (`security.md`, rule
 * 15).
 */
export type FederationIntent = z.infer<typeof intent>;

const schema = z.object({
  /** A secret of the browser; `state` or RelayState at the provider. */
  id: flowIdSchema,
  provider: providerIdSchema,
  intent,
  /** The visitor's target (`Continuation.search`). */
  continuation: z.string(),
  /** Its request has `display=popup`. A cross-site POST carries no cookie that says so. */
  popup: z.literal(true).optional(),
  remember: z.boolean(),
  begunAtMs: z.number(),
  /** It was started because the provider's form had expired: only once, to avoid a loop. */
  repeated: z.literal(true).optional(),
  /** See `AttemptState`. */
  strategyState: z.record(z.string(), z.unknown()),
  /** SHA-256 of the browser's cookie. */
  browser: z.string(),
});

type Row = z.infer<typeof schema>;

/** One attempt to authenticate at one provider, in one tab. */
export type FederationAttempt = Omit<Row, 'browser'>;

export type AttemptLookup =
  | { kind: 'started'; attempt: FederationAttempt }
  /** Used before, or expired: its continuation is still known. */
  | { kind: 'expired'; attempt: FederationAttempt }
  /** Never started, deleted, of another browser, or of another provider (mix-up): nothing about it is revealed. */
  | { kind: 'unknown' };

/** How long a response is accepted. */
export const attemptMs = 15 * minuteMs;
/** How long the continuation of an expired attempt is known. */
const keptMs = 2 * hourMs;
const cookieName = 'foyer_federation';

/**
 * Attempts, one record each, so that several tabs do not interfere. Each belongs to one browser (a host-only cookie
 * that no sibling subdomain can plant) and to one provider, and is answered once.
 */
export interface FederationAttempts {
  newId(): FlowId;
  /** Stores the attempt, and sets the browser's cookie if it has none. */
  begin(exchange: HttpExchange, attempt: Omit<FederationAttempt, 'begunAtMs'>): Promise<void>;
  find(req: Request, id: FlowId, provider: ProviderId): Promise<AttemptLookup>;
  /** For a cross-site POST, which has no cookies: the next step checks the browser. */
  findForAnyBrowser(id: FlowId, provider: ProviderId): Promise<AttemptLookup>;
  /** Uses it up atomically: of several parallel calls, one gets `started`. */
  take(req: Request, id: FlowId, provider: ProviderId): Promise<AttemptLookup>;
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
    return { kind: used || now() - row.begunAtMs > attemptMs ? 'expired' : 'started', attempt };
  };

  async function readForAnyBrowser(id: FlowId, provider: ProviderId) {
    const found = await records.findConsumable(id);
    return found?.value.provider === provider ? found : undefined;
  }

  async function read(req: Request, id: FlowId, provider: ProviderId) {
    const found = await readForAnyBrowser(id, provider);
    return found && found.value.browser === browserHash(req) ? found : undefined;
  }

  return {
    newId: records.newId,
    async begin({ req, res }, attempt) {
      // Replaces a planted cookie that is not a valid secret.
      const secret = ownSecret(req) ?? randomToken();
      cookies.set(res, cookieName, { value: secret, maxAgeMs: keptMs });
      await records.write(attempt.id, { ...attempt, begunAtMs: now(), browser: sha256(secret) });
    },
    async find(req, id, provider) {
      const found = await read(req, id, provider);
      return found ? toLookup(found.value, found.isUsed) : { kind: 'unknown' };
    },
    async findForAnyBrowser(id, provider) {
      const found = await readForAnyBrowser(id, provider);
      return found ? toLookup(found.value, found.isUsed) : { kind: 'unknown' };
    },
    async take(req, id, provider) {
      const found = await read(req, id, provider);
      return found ? toLookup(found.value, !(await records.consume(id))) : { kind: 'unknown' };
    },
  };
}
