import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type Provider from 'oidc-provider';
import { type Adapter, errors } from 'oidc-provider';
import { z } from 'zod';
import type { DirectHandler, Logger } from '../http/index.ts';
import { type Metrics, randomToken } from '../shared/index.ts';
import { type Database, StoreUnavailable } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { isRestricted } from './access-rule.ts';
import { isClientSecret } from './client-store.ts';
import type { RecordUse } from './connected-app-store.ts';
import type { GrantStore } from './grant-store.ts';
import { findSigner } from './id-token-signer.ts';
import {
  type ClaimsDeps,
  createClaimsReader,
  createHolderReader,
  findScopes,
  noteRedemption,
  sendPlain,
} from './plain-answers.ts';
import { readExchange } from './plain-exchange-request.ts';
import { refreshTokenSeconds } from './provider-configuration.ts';
import { refreshTokenWriter } from './refresh-token-store.ts';
import { sendServerError, sendStoreAway } from './server-errors.ts';
import { shortLivedAdapter } from './short-lived-adapter.ts';
import { hasScopeClaims } from './token-claims.ts';

interface PlainExchangeDeps extends ClaimsDeps {
  database: Database;
  grants: GrantStore;
  /** The stores of the library's records. */
  records: {
    codes: Pick<Adapter, 'find' | 'consume'>;
    accessTokens: Pick<Adapter, 'upsert'>;
    refreshTokens: Pick<Adapter, 'upsert'>;
  };
  provider: () => Provider;
  issuer: string;
  metrics: Pick<Metrics, 'issued'>;
  recordUse: RecordUse;
  now: () => number;
  log: Pick<Logger, 'error'>;
}

export function exchangeRecords(
  deps: Parameters<typeof shortLivedAdapter>[1] & Parameters<typeof refreshTokenWriter>[0],
): PlainExchangeDeps['records'] {
  return {
    codes: shortLivedAdapter('AuthorizationCode', deps),
    // The exchange has just found the grant, and each use of the token looks it up.
    accessTokens: shortLivedAdapter('AccessToken', { ...deps, grants: { ...deps.grants, isFound: async () => true } }),
    refreshTokens: refreshTokenWriter(deps),
  };
}

const text = z.string();

/** A code without conditions. Any other property makes the exchange the library's, also that it was used. */
const codeSchema = z.strictObject({
  kind: z.literal('AuthorizationCode'),
  jti: text,
  iat: z.number(),
  exp: z.number(),
  clientId: text,
  accountId: text,
  grantId: text,
  scope: text,
  redirectUri: text,
  codeChallenge: text,
  codeChallengeMethod: z.literal('S256'),
  nonce: text.optional(),
  authTime: z.number().optional(),
  acr: text.optional(),
  amr: z.array(text).optional(),
  sid: text.optional(),
  sessionUid: text.optional(),
  expiresWithSession: z.literal(false).optional(),
});
type PlainCode = z.infer<typeof codeSchema>;

const uncheckedValue = z.unknown().optional();

/** A client app whose tokens have no condition: of its registration only what is listed here. */
const clientSchema = z.strictObject({
  client_id: text,
  token_endpoint_auth_method: z.enum(['client_secret_basic', 'none']),
  grant_types: z.array(text),
  response_types: z.array(text),
  id_token_signed_response_alg: z.enum(['ES256', 'RS256']),
  first_party: z.boolean(),
  client_secret: uncheckedValue,
  previous_secret_hash: uncheckedValue,
  previous_secret_expires_at: uncheckedValue,
  id_token_claims: uncheckedValue,
  legacy: uncheckedValue,
  // They matter before the code is issued, or not at all.
  ...Object.fromEntries(
    [
      ...['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'application_type', 'hidden', 'scope'],
      ...['redirect_uris', 'post_logout_redirect_uris', 'legacy_id_token_redirect', 'resources'],
      ...['backchannel_logout_uri', 'backchannel_logout_session_required', 'calls_per_minute'],
      ...['calls_per_minute_by_call', 'pkce_optional', 'nonce_optional', 'unsigned_request_objects'],
      ...['claims_without_scope', 'require_pushed_authorization_requests', 'required_plans', 'required_entitlements'],
    ].map((name) => [name, uncheckedValue]),
  ),
});
type PlainClient = z.infer<typeof clientSchema>;

/** All that was found for an exchange whose every condition is met. */
interface Accepted {
  code: PlainCode;
  client: PlainClient;
  user: User;
  scopes: string[];
}

const seconds = () => Math.floor(Date.now() / 1000);

/** RFC 7636, section 4.6. */
function verifies(verifier: string, challenge: string): boolean {
  const [proof, expected] = [Buffer.from(hash('sha256', verifier, 'base64url')), Buffer.from(challenge)];
  return proof.length === expected.length && timingSafeEqual(proof, expected);
}

const lifetimeSeconds = 60 * 60;

/** The records of the tokens, as the library writes them. */
function createRecords({ code, client, scopes }: Accepted, nowMs: number) {
  const iat = seconds();
  const { clientId, accountId, grantId, sessionUid, sid, expiresWithSession, authTime, acr, amr, nonce } = code;
  const common = { iat, clientId, accountId, grantId, sessionUid, sid, expiresWithSession, gty: 'authorization_code' };
  const extra =
    authTime === undefined
      ? undefined
      : { auth_time: authTime, ...(acr !== undefined && { acr }), ...(amr && { amr }) };
  const access = { ...common, kind: 'AccessToken', jti: randomToken(), exp: iat + lifetimeSeconds, extra };
  const mayRefresh = client.grant_types.includes('refresh_token');
  const isRefreshed = mayRefresh && (client.first_party || code.scope.split(' ').includes('offline_access'));
  const refreshSeconds = refreshTokenSeconds({ iiat: iat }, nowMs);
  const refresh = {
    ...common,
    kind: 'RefreshToken',
    jti: randomToken(),
    exp: iat + refreshSeconds,
    iiat: iat,
    rotations: 0,
    authTime,
    acr,
    amr,
    nonce,
    scope: code.scope,
  };
  return { access: { ...access, scope: scopes.join(' ') }, refresh: isRefreshed ? refresh : undefined, refreshSeconds };
}

/** Reads what the request needs, and checks what the library checks before it uses a code. Changes nothing. */
function createJudge({ database, grants, records, now }: PlainExchangeDeps) {
  const readHolder = createHolderReader(database, grants);
  const isAuthentic = (client: PlainClient, secret: string | undefined) => {
    const { client_secret: newest, previous_secret_hash: previous, previous_secret_expires_at: until } = client;
    if (client.token_endpoint_auth_method === 'none') return secret === undefined;
    return secret !== undefined && isClientSecret({ newest, previous, previousExpiresAt: until }, secret, now());
  };
  return async (req: IncomingMessage): Promise<Accepted | undefined> => {
    const request = await readExchange(req);
    const { data: code } = codeSchema.safeParse(request && (await records.codes.find(request.code)));
    if (!request || !code || code.clientId !== request.clientId || code.exp <= seconds()) return undefined;
    const { user, grant, ...found } = await readHolder(code);
    const { data: client } = clientSchema.safeParse(found.client);
    if (!client || isRestricted(client) || !isAuthentic(client, request.secret)) return undefined;
    // The library takes the grant type from an app that may not ask for codes.
    const mayExchange = client.grant_types.includes('authorization_code') && client.response_types.includes('code');
    if (!mayExchange) return undefined;
    if (code.redirectUri !== request.redirectUri || !verifies(request.verifier, code.codeChallenge)) return undefined;
    const scopes = findScopes(code, grant);
    return scopes && user?.disabledAt === null ? { code, client, user, scopes } : undefined;
  };
}

/** Signs the id token of a code, as the library does. */
function createIdTokens(deps: PlainExchangeDeps) {
  const { provider, issuer } = deps;
  const readClaims = createClaimsReader(deps);
  return async ({ code, client, user, scopes }: Accepted): Promise<string | undefined> => {
    const claims = await readClaims(user, hasScopeClaims(client) ? scopes : []);
    const { authTime, acr, amr, nonce, sid, clientId } = code;
    const iat = seconds();
    const times = { auth_time: authTime, exp: iat + lifetimeSeconds, iat };
    return findSigner(
      provider(),
      client.id_token_signed_response_alg,
    )?.({
      ...claims,
      ...times,
      acr,
      amr,
      nonce,
      sid,
      aud: clientId,
      iss: issuer,
    });
  };
}

/**
 * The exchange of a code for the plain call that client apps make at every sign-in: PKCE by S256, a client secret or a
 * public client app, no resource and no key. The library spends most of such a call on layers that this one does not
 * need. It checks what the library checks (RFC 6749, section 4.1.3; RFC 7636) before it uses the code by one atomic
 * operation of the store, and answers nothing but tokens: each other request, and each refusal, is the library's, which
 * ends the grant of a code that was used before.
 */
export function plainExchange(deps: PlainExchangeDeps, library: DirectHandler): DirectHandler {
  const { records, metrics, recordUse, now, log } = deps;
  const judge = createJudge(deps);
  const signIdToken = createIdTokens(deps);

  /** Undefined: nothing has changed. */
  async function prepare(req: IncomingMessage) {
    const accepted = await judge(req);
    const idToken = accepted && (await signIdToken(accepted));
    return accepted && idToken !== undefined ? { accepted, idToken } : undefined;
  }

  /** @throws {errors.InvalidGrant} if the code was used meanwhile, or the grant has ended */
  async function issue(
    req: IncomingMessage,
    { accepted, idToken }: NonNullable<Awaited<ReturnType<typeof prepare>>>,
  ): Promise<object> {
    const { code, client } = accepted;
    const { access, refresh, refreshSeconds } = createRecords(accepted, now());
    // Sent together. If the code was used meanwhile, the access token is never given out.
    const results = await Promise.allSettled([
      records.codes.consume(code.jti),
      records.accessTokens.upsert(access.jti, access, lifetimeSeconds),
    ]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    noteRedemption(req);
    if (refresh) await records.refreshTokens.upsert(refresh.jti, refresh, refreshSeconds);
    const kind = client.token_endpoint_auth_method === 'none' ? 'public' : 'confidential';
    metrics.issued('access_token', kind);
    if (refresh) metrics.issued('refresh_token', kind);
    metrics.issued('id_token', kind);
    recordUse(code);
    return {
      access_token: access.jti,
      expires_in: lifetimeSeconds,
      id_token: idToken,
      refresh_token: refresh?.jti,
      scope: access.scope,
      token_type: 'Bearer',
    };
  }

  return async (req, res) => {
    let prepared: Awaited<ReturnType<typeof prepare>>;
    try {
      prepared = await prepare(req);
      if (prepared) {
        const answer = await issue(req, prepared);
        req.resume();
        return sendPlain(res, answer);
      }
    } catch (error) {
      // The library answers by which rule: it finds the code used, or no grant.
      const isRefused = error instanceof errors.InvalidGrant;
      if (!isRefused && (prepared || error instanceof StoreUnavailable)) {
        log.error({ err: error }, 'OpenID Provider failed');
        return error instanceof StoreUnavailable ? sendStoreAway(res) : sendServerError(req, res);
      }
    }
    // Its sender has gone within the body.
    if (req.destroyed && !req.complete) return;
    return library(req, res);
  };
}
