import { AsyncLocalStorage } from 'node:async_hooks';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Logger } from '../http/index.ts';
import type { Metrics } from '../shared/index.ts';

/** A request of a client app that the provider has refused. It contains no token, code, secret, state or hint. */
export interface Refusal {
  endpoint: string;
  /** A registered client; otherwise `unknown`. */
  clientId: string;
  /** The standard's error word. */
  error: string;
  /** The sentence that the client app gets. */
  description?: string | undefined;
  /** The precise reason, which only the operator and the developer's page in the sandbox get. */
  detail?: string | undefined;
}

export interface RefusalListeners {
  log: Logger;
  metrics: Metrics;
  /** The sandbox stores refusals for its page. */
  onRefusal?: ((refusal: Refusal) => void) | undefined;
}

/** The library's events for refusals, by the name of the endpoint in the log and the metrics. */
const endpoints = {
  'authorization.error': 'authorize',
  'grant.error': 'token',
  'pushed_authorization_request.error': 'par',
  'device_authorization.error': 'device_authorization',
  'introspection.error': 'introspect',
  'revocation.error': 'revoke',
  'userinfo.error': 'userinfo',
  'end_session.error': 'logout',
} as const;

/** Answers that are part of a flow: they are counted, but are no news to the operator. */
const expectedErrors: ReadonlySet<string> = new Set([
  ...['login_required', 'interaction_required', 'consent_required', 'access_denied', 'authorization_pending'],
  ...['slow_down', 'use_dpop_nonce'],
]);

/** The error words of the standards: a bound of the metric's label values. */
const knownErrors: ReadonlySet<string> = new Set([
  ...expectedErrors,
  ...['invalid_request', 'invalid_client', 'invalid_grant', 'invalid_scope', 'invalid_target', 'invalid_token'],
  ...['insufficient_scope', 'unauthorized_client', 'unsupported_grant_type', 'unsupported_response_type'],
  ...['unsupported_response_mode', 'unsupported_token_type', 'invalid_redirect_uri', 'invalid_dpop_proof'],
  ...['expired_token', 'unmet_authentication_requirements', 'temporarily_unavailable', 'invalid_request_object'],
  ...['invalid_request_uri', 'request_not_supported', 'request_uri_not_supported', 'registration_not_supported'],
]);

const maxCharacters = 200;
const read = (error: Error, name: string): string | undefined => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' && value !== '' ? value.slice(0, maxCharacters) : undefined;
};

/** A parser's message repeats a part of what it could not parse. */
const hasSafeDetail = ({ cause }: Error) => !(cause instanceof SyntaxError);

function toRefusal(endpoint: string, { oidc }: KoaContextWithOIDC, error: Error): Refusal {
  return {
    endpoint,
    clientId: oidc.client?.clientId ?? 'unknown',
    error: read(error, 'error') ?? error.name,
    description: read(error, 'error_description'),
    detail: hasSafeDetail(error) ? read(error, 'error_detail') : undefined,
  };
}

const codeReason = 'the code is unknown, was already used or is older than 60 seconds';
const refreshReason = 'the refresh token is unknown, was already used, has expired or was revoked';

/** The library hides these reasons, and a developer needs them (RFC 6749, section 5.2). None names another client. */
const descriptions: ReadonlyMap<string, string> = new Map([
  ['authorization code redirect_uri mismatch', 'redirect_uri differs from that of the authorization request'],
  ['code_verifier must be provided', 'code_verifier is missing, and the authorization request had a code_challenge'],
  ['code_verifier does not match code_challenge', 'code_verifier does not match the code_challenge of the request'],
  ['missing DPoP proof JWT', 'this client or this token needs a DPoP proof'],
  ['DPoP proof JWT Replay detected', 'the DPoP proof was already used: make a new one for each request'],
  [
    'DPoP proof key thumbprint does not match dpop_jkt',
    'the DPoP proof is signed by another key than the request named',
  ],
  ['failed jkt verification', 'the DPoP proof is signed by another key than the token is bound to'],
]);

/** All causes of `invalid_client` are described alike, so that a stranger cannot find out which clients exist. */
const clientReason =
  'client authentication failed: the client is unknown, its secret or key is wrong, or it is registered for another method';

function describe({ error, detail = '' }: Refusal, grantType: unknown): string | undefined {
  if (error === 'invalid_client') return clientReason;
  if (error !== 'invalid_grant') return undefined;
  const precise = descriptions.get(detail);
  if (precise !== undefined) return precise;
  if (grantType === 'authorization_code') return codeReason;
  return grantType === 'refresh_token' ? refreshReason : undefined;
}

/** Replaces the library's general sentence at the token endpoint by one that says what to do. */
function improveAnswer(ctx: KoaContextWithOIDC, refusal: Refusal): Refusal {
  const description = describe(refusal, ctx.oidc.params?.grant_type);
  if (description === undefined || typeof ctx.body !== 'object') return refusal;
  ctx.body = { ...ctx.body, error_description: description };
  return { ...refusal, description };
}

function writeLine(log: Logger, { endpoint, clientId, error, description, detail }: Refusal): void {
  const level = expectedErrors.has(error) ? 'debug' : 'info';
  log[level](
    {
      act: 'oauth-refused',
      endpoint,
      client_id: clientId,
      error,
      error_description: description,
      error_detail: detail,
    },
    'client app refused',
  );
}

/**
 * Reports each refused request of a client app to the log and the metrics, and describes the reason to the client app.
 * The answer itself is often a redirect or a bare 400, in which an operator sees neither client nor reason.
 */
export function reportRefusals(provider: Provider, { log, metrics, onRefusal }: RefusalListeners): void {
  const refused = new WeakMap<object, Refusal>();
  const report = (refusal: Refusal) => {
    metrics.clientRefused(refusal.endpoint, knownErrors.has(refusal.error) ? refusal.error : 'other');
    writeLine(log, refusal);
    if (!expectedErrors.has(refusal.error)) onRefusal?.(refusal);
  };
  /** Foyer answers some errors of the library otherwise: a repeated refresh, the introspection of a JWT. */
  const reportAnswer = ({ req, res }: KoaContextWithOIDC) => {
    const refusal = refused.get(req);
    if (refusal && (refusal.endpoint === 'authorize' || res.statusCode !== 200)) report(refusal);
  };
  const emitter: NodeJS.EventEmitter = provider;
  for (const [event, endpoint] of Object.entries(endpoints)) {
    emitter.on(event, (ctx: KoaContextWithOIDC, error: Error) => {
      const refusal = toRefusal(endpoint, ctx, error);
      // The last of several errors is the one that is answered.
      const isFirst = !refused.has(ctx.req);
      refused.set(ctx.req, endpoint === 'token' ? improveAnswer(ctx, refusal) : refusal);
      // The lines of a request have its reference.
      const inRequest = AsyncLocalStorage.snapshot();
      if (isFirst) ctx.res.once('finish', () => inRequest(() => reportAnswer(ctx)));
    });
  }
}
