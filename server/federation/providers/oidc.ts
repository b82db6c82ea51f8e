import { createHash, randomBytes } from 'node:crypto';
import type { Request } from 'express';
import { decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
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
import { readLogoutTokens } from './logout-token.ts';
import { fromOidcError } from './oidc-errors.ts';
import { type Authenticator, authenticate, type StrategyRequest } from './passport.ts';
import { isNameOfPerson, isOfDomain, toEmail, toNames, toPictureUrl, toSubject } from './profile-claims.ts';

/** The verified claims of the id token and of userinfo. */
type IdentityClaims = Record<string, unknown>;

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

  async function runOnce(request: OidcRequest, configuration: client.Configuration) {
    const strategy = new OidcStrategy(
      { name: id, config: configuration, callbackURL, scope, sessionKey },
      async (tokens, done) => done(null, await fetchClaims(configuration, config, tokens)),
    );
    passport.use(id, strategy);
    return authenticate({ passport, id, withinMs: settings.answerMs }, request);
  }

  /** @param open the request; its session is used up, so that each way to authenticate needs one of its own */
  async function run(open: () => OidcRequest) {
    try {
      const server = (await discovery()).serverMetadata();
      const result = await authentication.run(server, async (way) =>
        runOnce(open(), await discovery(way.authenticate)),
      );
      return { server, result };
    } catch (error) {
      throw fromOidcError(error);
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
      });
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
      });
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

const maxCharacters = 16_384;

function readCallbackQuery(req: Request): string {
  const { search } = new URL(req.originalUrl, 'http://answer.invalid');
  const response = new URLSearchParams(search);
  if (search.length > maxCharacters) throw new FederationError('invalid', 'response too long');
  if (!response.has('code') && !response.has('error'))
    throw new FederationError('invalid', 'neither a code nor an error');
  return search;
}

/**
 * The library has verified the id token: signature, issuer, audience, nonce, times; and that userinfo belongs to the
 * same subject.
 */
async function fetchClaims(
  configuration: client.Configuration,
  config: OidcProviderConfig,
  tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers,
): Promise<IdentityClaims> {
  const claims = tokens.claims();
  if (claims === undefined) throw new FederationError('invalid', 'no id token');
  // The library checks it only if there are several audiences (Core 1.0, section 3.1.3.7).
  if (claims.azp !== undefined && claims.azp !== config.clientId)
    throw new FederationError('invalid', 'the id token was given to another client');
  mustBelongTogether(tokens.id_token ?? '', claims, tokens.access_token);
  if (!config.userinfo || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const more: IdentityClaims = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return mergeClaims(claims, more);
}

const hashes: Record<string, string> = { '256': 'sha256', '384': 'sha384', '512': 'sha512', DSA: 'sha512' };

/**
 * An id token may be bound to its access token (`at_hash`: Core 1.0, section 3.1.3.8). The library does not check it in
 * this flow; a mismatch means that two responses were mixed.
 */
function mustBelongTogether(idToken: string, { at_hash: response }: IdentityClaims, accessToken: string): void {
  if (response === undefined) return;
  const { alg = '' } = decodeProtectedHeader(idToken);
  const hash = hashes[alg.slice(-3)];
  if (hash === undefined) return;
  const digest = createHash(hash).update(accessToken).digest();
  if (response !== digest.subarray(0, digest.length / 2).toString('base64url'))
    throw new FederationError('invalid', 'the id token belongs to another access token');
}

/**
 * Userinfo has precedence, but not over what the id token says about the sign-in; and `email_verified` must come from the
 * same source as the address.
 */
export function mergeClaims(claims: IdentityClaims, more: IdentityClaims): IdentityClaims {
  const { iss, auth_time, sid } = claims;
  const whole: IdentityClaims = { ...claims, ...more, iss, auth_time, sid };
  const source = more.email === undefined ? claims : more;
  return { ...whole, email: source.email, email_verified: source.email_verified };
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
  // It only applies to `email`; other claims have no such statement.
  const provider = response.email_verified === true && (claims.email ?? 'email') === 'email';
  // One Microsoft address serves the issuers of all organizations, whose statements about other domains prove nothing.
  const own = URL.parse(String(response.iss))?.href === URL.parse(issuer)?.href;
  return {
    issuer: toSubject(response.iss),
    subject: toSubject(response.sub),
    email,
    emailVerified: provider && own && verifiedEmails === 'domains' && isOfDomain(email, domains),
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
