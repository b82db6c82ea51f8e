import { randomBytes } from 'node:crypto';
import type { Request } from 'express';
import type * as client from 'openid-client';
import { Strategy as OpenIdClientStrategy } from 'openid-client/passport';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import type { UpstreamSession } from '../../sessions/index.ts';
import type { ProviderId } from '../../shared/index.ts';
import { FederationError, type UpstreamIdentity } from '../identity.ts';
import type { ProviderStrategy, StrategyState } from '../provider-strategy.ts';
import { callbackPath, type Provider, type StrategySettings } from '../providers.ts';
import { createClientAuthentication } from './client-authentication.ts';
import { toPublicKeys } from './client-keys.ts';
import { createDiscovery, type ProviderDiscovery } from './discovery.ts';
import { fetchClaims, type IdentityClaims } from './id-token-claims.ts';
import { readLogoutTokens } from './logout-token.ts';
import { fromOidcError } from './oidc-errors.ts';
import { type Authenticator, authenticate, type StrategyRequest } from './passport.ts';
import { isNameOfPerson, isOfDomain, readFlag, toEmail, toNames, toPictureUrl, toSubject } from './profile-claims.ts';

const sessionKey = 'oidc';

/**
 * The response of a provider, or an authorization request. The session is the attempt's, so that tabs do not share one.
 */
interface OidcRequest extends StrategyRequest {
  method: 'GET';
  session: Record<string, StrategyState>;
  /** The query of the response; empty: it is an authorization request. */
  search: string;
  parameters: Record<string, string>;
}

/** The part of `OidcRequest` that the strategy reads besides those of the library. */
type ReadRequest = Pick<Request, 'method'> & Partial<Pick<OidcRequest, 'search' | 'parameters'>>;

class OidcStrategy extends OpenIdClientStrategy {
  override authorizationRequestParams({ parameters }: ReadRequest) {
    return new URLSearchParams(parameters);
  }
  /** The registered address replaces the actual one, whatever proxy is in front of Foyer. */
  override currentUrl({ search = '' }: ReadRequest) {
    const url = new URL('http://answer.invalid/');
    url.search = search;
    return url;
  }
}

/**
 * Any OpenID provider, with the authorization code flow, PKCE, state and nonce (OpenID Connect Core 1.0, section 3.1).
 */
export function createOidcProvider(
  settings: StrategySettings,
  passport: Authenticator,
  config: OidcProviderConfig,
): Provider {
  const { id, name, label = {}, logo, domains, signUp, secondFactor } = config;
  const discovery = createDiscovery(config, { now: settings.now, answerMs: settings.answerMs });
  return {
    id,
    kind: 'oidc',
    name,
    label: Object.fromEntries(Object.entries(label).filter(([, text]) => text !== undefined)),
    logo,
    domains,
    signUp,
    secondFactor,
    refusesEmbeddedBrowsers: false,
    strategy: discoveredStrategy(settings, passport, { config, discovery }),
    oidc: readLogoutTokens(settings, config, discovery),
    clientKeys: toPublicKeys(config),
  };
}

/**
 * The library's strategy needs the metadata of its provider and a way to authenticate there at its creation. So it is
 * registered at each request, when both are known.
 */
function discoveredStrategy(
  settings: StrategySettings,
  passport: Authenticator,
  { config, discovery }: { config: OidcProviderConfig; discovery: ProviderDiscovery },
): ProviderStrategy {
  const { id, scope } = config;
  const authentication = createClientAuthentication(config, settings.now);
  const callbackURL = new URL(callbackPath(id), settings.publicUrl).href;

  async function runOnce(request: OidcRequest, configuration: client.Configuration, usePAR = false) {
    const strategy = new OidcStrategy(
      { name: id, config: configuration, callbackURL, scope, sessionKey, usePAR },
      async (tokens, done) => done(null, await fetchClaims(configuration, config, tokens)),
    );
    passport.use(id, strategy);
    return authenticate({ passport, id, withinMs: settings.answerMs }, request);
  }

  /** @param open the request; its session is used up, so that each way to authenticate needs one of its own */
  async function run(open: () => OidcRequest, endpoint: 'token endpoint' | 'pushed request') {
    try {
      const shared = await discovery();
      const server = shared.serverMetadata();
      if (endpoint === 'pushed request' && !isPushed(server, config))
        return { server, result: await runOnce(open(), shared) };
      const result = await authentication.run(server, async (way) =>
        runOnce(open(), await discovery(way.authenticate), endpoint === 'pushed request'),
      );
      return { server, result };
    } catch (error) {
      throw fromOidcError(error, endpoint);
    }
  }

  return {
    async begin({ id: state }, { loginHint, repeated, lang }) {
      const parameters = {
        state,
        nonce: randomBytes(32).toString('base64url'),
        ui_locales: lang,
        ...(loginHint !== undefined && { login_hint: loginHint }),
        ...(repeated && { prompt: 'login', max_age: '0' }),
      };
      let session: OidcRequest['session'] = {};
      const { result } = await run(() => {
        session = {};
        return { method: 'GET', query: {}, session, search: '', parameters };
      }, 'pushed request');
      if (result.kind !== 'redirect') throw new Error(`the strategy ${id} did not redirect`);
      // The time of authentication is checked below: the library would also count authentications after the request.
      const { max_age: _, ...stored } = session[sessionKey] ?? {};
      return { url: result.url, stored: { ...stored, ...(repeated && { againAtS: Math.floor(Date.now() / 1000) }) } };
    },
    async finish(req, attempt) {
      if (attempt === undefined) throw new FederationError('foreign', 'unsolicited response');
      const { againAtS, ...stored } = attempt.strategyState;
      const search = readCallbackQuery(req);
      const { result, server } = await run(() => {
        const session = { [sessionKey]: { ...stored } };
        return { method: 'GET', query: {}, session, search, parameters: {} };
      }, 'token endpoint');
      if (result.kind === 'fail') throw new FederationError('cancelled', 'access_denied');
      if (result.kind !== 'success') throw new FederationError('invalid', 'neither a code nor an error');
      const response = result.user as IdentityClaims;
      if (typeof againAtS === 'number') requireFreshAuthentication(response, againAtS, server);
      const view = toFreshness(response, { requested: againAtS !== undefined, nowMs: settings.now() });
      const identity = oidcToIdentity(response, config);
      return {
        provider: id,
        kind: 'oidc',
        ...identity,
        ...view,
        session: toUpstreamSession(id, identity, response.sid),
      };
    },
  };
}

/** The names by which the provider can end this session (`sid`: Back-Channel Logout 1.0, section 2.1). */
const toUpstreamSession = (
  provider: ProviderId,
  { issuer, subject }: Pick<UpstreamIdentity, 'issuer' | 'subject'>,
  sid: unknown,
): UpstreamSession => ({ provider, oidc: { issuer, subject, ...(isNameOfPerson(sid) && { sid }) } });

/** @throws {FederationError} not-set-up */
function isPushed(server: client.ServerMetadata, { pushedRequests }: OidcProviderConfig): boolean {
  if (!pushedRequests && server.require_pushed_authorization_requests !== true) return false;
  if (server.pushed_authorization_request_endpoint === undefined)
    throw new FederationError('not-set-up', 'the provider names no pushed_authorization_request_endpoint');
  return true;
}

const maxCharacters = 16_384;

function readCallbackQuery(req: Request): string {
  const { search } = new URL(req.originalUrl, 'http://answer.invalid');
  const response = new URLSearchParams(search);
  if (search.length > maxCharacters) throw new FederationError('invalid', 'response too long');
  if (!response.has('code') && !response.has('error'))
    throw new FederationError('invalid', 'neither a code nor an error');
  return search;
}

/** @param config the mapping of claims, and the domains whose addresses count as verified */
export function oidcToIdentity(
  response: IdentityClaims,
  {
    issuer,
    claims,
    domains,
    verifiedEmails,
  }: Pick<OidcProviderConfig, 'issuer' | 'claims' | 'domains' | 'verifiedEmails'>,
): Omit<UpstreamIdentity, 'provider' | 'kind' | 'session' | 'shownAtMs'> {
  const email = toEmail(response[claims.email ?? 'email']);
  const verified = readFlag(response.email_verified);
  const believed = verified === true || (verifiedEmails === 'trusted-domains' && response.email_verified === undefined);
  // It only applies to `email`; other claims have no such statement.
  const provider = believed && (claims.email ?? 'email') === 'email';
  // One Microsoft address serves the issuers of all organizations, whose statements about other domains prove nothing.
  const own = URL.parse(String(response.iss))?.href === URL.parse(issuer)?.href;
  return {
    issuer: toSubject(response.iss),
    subject: toSubject(response.sub),
    email,
    emailVerified: provider && own && verifiedEmails !== 'never' && isOfDomain(email, domains),
    ...toNames({
      input: response[claims.givenName ?? 'given_name'],
      family: response[claims.familyName ?? 'family_name'],
      whole: response.name,
    }),
    picture: toPictureUrl(response[claims.picture ?? 'picture']),
  };
}

/**
 * A provider without a time of authentication is never trusted to have asked: some ignore `prompt` and `max_age`, and
 * send no `auth_time` (Core 1.0, section 3.1.2.1 demands both).
 */
function toFreshness(
  response: IdentityClaims,
  { requested, nowMs }: { requested: boolean; nowMs: number },
): Pick<UpstreamIdentity, 'shownAtMs' | 'stale'> {
  const shownAtMs = authTimeMs(response, nowMs);
  if (shownAtMs === undefined) return { stale: true };
  return requested ? {} : { shownAtMs };
}

/** By Foyer's clock; the provider's is compared with the true time, as the library does. */
function authTimeMs({ auth_time: at }: IdentityClaims, nowMs: number): number | undefined {
  if (typeof at !== 'number') return undefined;
  return Math.max(0, Math.floor(nowMs - Math.max(0, Date.now() - at * 1_000)));
}

/** Tolerance for clock differences. */
const skewS = 60;

/**
 * Requires a fresh authentication instead of a session at the provider. If a provider does not give the time
 * (`auth_time`, required with `max_age`: Core 1.0, section 2), and does not claim a fresh one, `toFreshness` marks the
 * sign-in as stale.
 */
export function requireFreshAuthentication(
  response: IdentityClaims,
  askedAtS: number,
  metadata: Pick<client.ServerMetadata, 'claims_supported'>,
): void {
  const { auth_time: at } = response;
  if (at === undefined && !metadata.claims_supported?.includes('auth_time')) return;
  if (typeof at !== 'number' || at < askedAtS - skewS)
    throw new FederationError('not-fresh', 'provider did not reauthenticate');
}
