import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import type { DirectHandler, HostCookies } from '../http/index.ts';
import { type CurrentSession, getCurrentSession, type Sessions, toAcr } from '../sessions/index.ts';
import { type ClientId, type Metrics, randomToken, toClientId } from '../shared/index.ts';
import { blocksAuthorization, type Step } from '../sign-in/index.ts';
import { type Database, readTogether, StoreUnavailable } from '../store/index.ts';
import { currentUserQuery, rememberCurrentUser, toCurrentUser, type User } from '../users/index.ts';
import { isRestricted } from './access-rule.ts';
import { isClientId } from './client-metadata.ts';
import { createClientMetadataReader } from './client-store.ts';
import type { GrantStore } from './grant-store.ts';
import { grantSchema } from './plain-answers.ts';
import { codeSeconds, providerCookies, refreshTokenTotalSeconds, sessionSeconds } from './provider-configuration.ts';
import { cookieSignatures } from './provider-cookies.ts';
import { routes, toExpressRequest } from './routes-table.ts';
import { isMemberScope } from './scopes.ts';
import { isHardlyLater, shortLivedAdapter } from './short-lived-adapter.ts';

interface PlainAuthorizeDeps {
  database: Database;
  grants: GrantStore;
  sessions: Pick<Sessions, 'getCurrentUser' | 'reader'>;
  toNextStep(user: User): Step;
  cookies: HostCookies;
  cookieKeys: string[];
  /** The stores of the library's records. */
  records: { codes: Pick<Adapter, 'upsert'>; providerSessions: Pick<Adapter, 'find' | 'upsert'> };
  issuer: string;
  metrics: Pick<Metrics, 'issued'>;
  idleMs: number;
  rememberMs: number;
  now: () => number;
}

export function authorizeRecords(deps: Parameters<typeof shortLivedAdapter>[1]): PlainAuthorizeDeps['records'] {
  return {
    // The request has just found the grant, and each use of the code looks it up.
    codes: shortLivedAdapter('AuthorizationCode', { ...deps, grants: { ...deps.grants, isFound: async () => true } }),
    providerSessions: shortLivedAdapter('Session', deps),
  };
}

const text = z.string().min(1);

/** The parameters of a plain request. Any other one makes it the library's, and so does one that is given twice. */
const requestSchema = z.strictObject({
  client_id: z.string().refine(isClientId),
  redirect_uri: z.string().regex(/^https?:\/\/(?:[\w.~:/?&=+-]|%[\dA-Fa-f]{2})+$/),
  response_type: z.literal('code'),
  scope: z.string().regex(/^[a-z_:.]+(?: [a-z_:.]+)*$/),
  code_challenge: z.string().regex(/^[\w.~-]{43,128}$/),
  code_challenge_method: z.literal('S256'),
  state: text.optional(),
  nonce: text.optional(),
});
type PlainRequest = z.infer<typeof requestSchema> & { scopes: string[] };

const uncheckedValue = z.unknown().optional();

/** A web app of the marketplace itself, whose requests have no condition: of its registration only what is listed. */
const clientSchema = z.strictObject({
  client_id: text,
  application_type: z.literal('web'),
  first_party: z.literal(true),
  legacy: z.literal(false),
  redirect_uris: z.array(text),
  response_types: z.array(text),
  grant_types: z.array(text),
  scope: text,
  token_endpoint_auth_method: z.enum(['client_secret_basic', 'none']),
  id_token_signed_response_alg: z.enum(['ES256', 'RS256']),
  ...Object.fromEntries(
    [
      ...['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri', 'hidden', 'post_logout_redirect_uris'],
      ...['client_secret', 'previous_secret_hash', 'previous_secret_expires_at'],
      ...['id_token_claims', 'claims_without_scope', 'resources', 'pkce_optional', 'nonce_optional'],
      ...['calls_per_minute', 'calls_per_minute_by_call', 'required_plans', 'required_entitlements'],
    ].map((name) => [name, uncheckedValue]),
  ),
});
type PlainClient = z.infer<typeof clientSchema>;

/** The provider's session of a browser. The library writes more into it at the first request of a client app. */
const providerSessionSchema = z.object({
  kind: z.literal('Session'),
  jti: text,
  uid: text,
  exp: z.number(),
  accountId: text,
  loginTs: z.number(),
  amr: z.array(z.string()).optional(),
  transient: z.boolean().optional(),
  authorizations: z.record(
    z.string(),
    z.object({ sid: text, grantId: text, persistsLogout: z.literal(true) }).partial(),
  ),
});

const seconds = () => Math.floor(Date.now() / 1000);

/** The header `Accept` of a navigation; for another one the library chooses the form of its small page. */
const isNavigation = (accept: string | undefined): boolean =>
  accept === undefined || accept === '*/*' || /^text\/html(?:,|$)/.test(accept);

function readRequest({ url = '', headers }: IncomingMessage): PlainRequest | undefined {
  const start = `${routes.authorization}?`;
  if (!url.startsWith(start) || !/^[\x21-\x7e]{1,4000}$/.test(url) || !isNavigation(headers.accept)) return undefined;
  const { data: request } = requestSchema.safeParse({ ...parse(url.slice(start.length)) });
  const scopes = request?.scope.split(' ') ?? [];
  const isPlain = scopes.includes('openid') && scopes.every((scope) => isMemberScope(scope));
  if (!request || !isPlain || scopes.includes('offline_access') || new Set(scopes).size < scopes.length)
    return undefined;
  return { ...request, scopes };
}

/** Tests whether the client app may make this request, and needs no consent. */
function mayRequest(client: PlainClient, { redirect_uri: redirectUri, scopes }: PlainRequest): boolean {
  const registered = client.scope.split(' ');
  return (
    !isRestricted(client) &&
    client.response_types.includes('code') &&
    client.grant_types.includes('authorization_code') &&
    client.redirect_uris.includes(redirectUri) &&
    scopes.every((scope) => registered.includes(scope))
  );
}

/** Reads client app and grant, of PostgreSQL with the user by one statement. */
function createReader({ database, grants }: PlainAuthorizeDeps) {
  const clients = createClientMetadataReader(database);
  return async (req: IncomingMessage, { idHash, userId }: CurrentSession, clientId: ClientId) => {
    const owner = { foyerSession: idHash, offline: false };
    if (database.kind === 'sqlite') {
      const client = await clients.find(clientId);
      return { client, grant: client && (await grants.findOfSession(owner, clientId)) };
    }
    const rows = await readTogether(database, {
      client: clients.bind(clientId),
      member: currentUserQuery(database, userId),
      grant: grants.bindOfSession(owner, clientId),
    });
    rememberCurrentUser(req, userId, Promise.resolve(rows.member && toCurrentUser(rows.member)));
    return { client: rows.client && clients.read(rows.client), grant: rows.grant && grants.open(rows.grant) };
  };
}

/** The grant, if it gives the scopes to the client app. */
function findGrant(stored: AdapterPayload | undefined, { userId }: CurrentSession, request: PlainRequest) {
  const { data: grant } = grantSchema.safeParse(stored);
  if (!grant || grant.clientId !== request.client_id || grant.accountId !== userId) return undefined;
  const granted = grant.openid.scope.split(' ');
  if (!request.scopes.every((scope) => granted.includes(scope))) return undefined;
  return { id: grant.jti, exp: grant.exp, scope: granted.filter((scope) => request.scopes.includes(scope)).join(' ') };
}

/** The id of the provider's session, signed by the newest key. */
type SignedId = Record<'id' | 'signature', string>;

/** The provider's session in a cookie, as the library reads and sets it. */
function createSessionCookie({ cookies, cookieKeys }: PlainAuthorizeDeps) {
  const name = cookies.name(providerCookies.session);
  const signatures = cookieSignatures(cookieKeys);
  const pattern = new RegExp(`(?:^|;) *${name}(\\.sig)?=([^;]*)`, 'g');
  const attributes = `; path=/; samesite=lax${cookies.options.secure ? '; secure' : ''}; httponly`;
  return {
    /** Undefined: there is none, several, or one that the newest key has not signed. */
    read({ headers }: IncomingMessage): SignedId | undefined {
      const found = [...(headers.cookie ?? '').matchAll(pattern)];
      const [id, ...otherIds] = found.filter(([, sig]) => sig === undefined).map(([, , value]) => value);
      const [signature, ...others] = found.filter(([, sig]) => sig !== undefined).map(([, , value]) => value);
      if (id === undefined || signature === undefined || otherIds.length + others.length > 0) return undefined;
      if (!/^[\w-]+$/.test(id) || !/^[\w-]+$/.test(signature)) return undefined;
      return signatures.index(`${name}=${id}`, signature) === 0 ? { id, signature } : undefined;
    },
    /** @param until in seconds since the epoch; undefined: the browser ends it */
    set(res: ServerResponse, { id, signature }: SignedId, until: number | undefined): void {
      // Of both the browser takes the duration, whatever its clock says.
      const maxAge = until === undefined ? 0 : until - Math.floor(Date.now() / 1000);
      const lifetime =
        until === undefined ? '' : `; expires=${new Date(until * 1000).toUTCString()}; max-age=${maxAge}`;
      res.appendHeader(
        'Set-Cookie',
        [`${name}=${id}`, `${name}.sig=${signature}`].map((pair) => pair + attributes + lifetime),
      );
    },
  };
}

function redirect(res: ServerResponse, redirectUri: string, answer: Record<string, string>): void {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  const body = Buffer.from(`Redirecting to ${url.href.replaceAll('&', '&amp;')}.`);
  res.statusCode = 303;
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Location', url.href);
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  res.setHeader('Content-Length', body.length);
  res.end(body);
}

/** Reads what the request needs, and tests whether the library would answer it with a code and change nothing else. */
function createJudge(deps: PlainAuthorizeDeps) {
  const { sessions, toNextStep, records, now } = deps;
  const read = createReader(deps);
  const cookie = createSessionCookie(deps);

  async function findProviderSession(req: IncomingMessage) {
    const signedId = cookie.read(req);
    const stored = signedId && (await records.providerSessions.find(signedId.id));
    const { data: session } = providerSessionSchema.safeParse(stored);
    if (!signedId || !stored || session?.jti !== signedId.id || session.exp <= seconds()) return undefined;
    return { signedId, stored, session };
  }

  /** It must outlive every refresh token. */
  const lasts = (exp: number) => exp > seconds() && exp > now() / 1000 + refreshTokenTotalSeconds;

  return async (req: IncomingMessage) => {
    const request = readRequest(req);
    if (!request) return undefined;
    // Sent together.
    const [, browserSession] = await Promise.all([sessions.reader.read(req), findProviderSession(req)]);
    const own = browserSession && getCurrentSession(toExpressRequest(req));
    if (!own) return undefined;
    const found = await read(req, own, toClientId(request.client_id));
    const { data: client } = clientSchema.safeParse(found.client);
    const grant = findGrant(found.grant, own, request);
    if (!client || !mayRequest(client, request) || !grant || !lasts(grant.exp)) return undefined;
    const member = await sessions.getCurrentUser(toExpressRequest(req));
    if (!member || blocksAuthorization(toNextStep(member.user))) return undefined;
    const entry = browserSession.session.authorizations[client.client_id];
    if (browserSession.session.accountId !== member.user.id || entry?.grantId !== grant.id) return undefined;
    return entry.persistsLogout && entry.sid !== undefined
      ? { request, client, member, grant, browserSession }
      : undefined;
  };
}

/**
 * The silent authorization that browsers pass through at every sign-in to a further app: a signed-in member, a web app
 * of the marketplace to which this session has signed in before, a code with PKCE. The library spends most of such a
 * request on layers that this one does not need. It checks what the library and Foyer's policy check (RFC 6749, section
 * 4.1.1; interaction-policy.ts), and answers nothing but a code: each other request, and each refusal, is the library's.
 */
export function plainAuthorize(deps: PlainAuthorizeDeps, library: DirectHandler): DirectHandler {
  const { records, metrics, issuer, sessions } = deps;
  const judge = createJudge(deps);
  const cookie = createSessionCookie(deps);

  async function issueCode({ request, member, grant, browserSession }: NonNullable<Awaited<ReturnType<typeof judge>>>) {
    const { loginTs, uid, amr } = browserSession.session;
    const iat = seconds();
    const code = {
      iat,
      exp: iat + codeSeconds,
      kind: 'AuthorizationCode',
      jti: randomToken(),
      accountId: member.user.id,
      acr: toAcr(member.session.amr),
      amr,
      authTime: loginTs,
      codeChallenge: request.code_challenge,
      codeChallengeMethod: request.code_challenge_method,
      clientId: request.client_id,
      grantId: grant.id,
      scope: grant.scope,
      sessionUid: uid,
      nonce: request.nonce,
      redirectUri: request.redirect_uri,
    };
    await records.codes.upsert(code.jti, code, codeSeconds);
    return code.jti;
  }

  return async (req, res) => {
    const accepted = await judge(req).catch((error: unknown) => {
      // The library would wait for the store again; of other faults it makes its own answer.
      if (error instanceof StoreUnavailable) throw error;
    });
    if (!accepted) {
      sessions.reader.forget(req);
      return library(req, res);
    }
    const { request, client, browserSession } = accepted;
    const code = await issueCode(accepted);
    metrics.issued('authorization_code', client.token_endpoint_auth_method === 'none' ? 'public' : 'confidential');
    const ttl = sessionSeconds(browserSession.session, deps);
    const exp = seconds() + ttl;
    if (!isHardlyLater(browserSession.session, exp, ttl))
      await records.providerSessions.upsert(browserSession.session.jti, { ...browserSession.stored, exp }, ttl);
    cookie.set(res, browserSession.signedId, browserSession.session.transient ? undefined : exp);
    const { state } = request;
    redirect(res, request.redirect_uri, { code, ...(state !== undefined && { state }), iss: issuer });
  };
}
