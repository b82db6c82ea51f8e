import { createHash, randomBytes } from 'node:crypto';
import type { Request } from 'express';
import { decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import { Strategy as OpenIdClientStrategy } from 'openid-client/passport';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import { FederationRefusal, type UpstreamIdentity } from '../identity.ts';
import { callbackPath, type Provider, type StrategySettings } from '../providers.ts';
import type { Kept, Strategy } from '../strategy.ts';
import { createDiscovery } from './discovery.ts';
import { oidcRefusalOf } from './oidc-errors.ts';
import { type Authenticator, authenticate, type StrategyRequest } from './passport.ts';
import { emailOf, isOf, namesOf, pictureOf, subjectOf } from './person.ts';

/** What is said of a person: the id token's claims and the userinfo's, checked. */
export type Said = Record<string, unknown>;

const sessionKey = 'oidc';

/** The answer of a provider, or an authorization request. The session is the attempt's, so that tabs do not share one. */
interface OidcRequest extends StrategyRequest {
  method: 'GET';
  session: Record<string, Kept>;
  /** The query of the answer; empty: it is an authorization request. */
  search: string;
  parameters: Record<string, string>;
}

/** The part of `OidcRequest` that the strategy reads beside those of the library. */
type ReadRequest = Pick<Request, 'method'> & Partial<Pick<OidcRequest, 'search' | 'parameters'>>;

class OidcStrategy extends OpenIdClientStrategy {
  override authorizationRequestParams({ parameters }: ReadRequest) {
    return new URLSearchParams(parameters);
  }
  /** Without the true address: the registered one replaces it, whatever stands before Foyer. */
  override currentUrl({ search = '' }: ReadRequest) {
    const url = new URL('http://answer.invalid/');
    url.search = search;
    return url;
  }
}

/** Any OpenID provider, by the authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0, section 3.1). */
export function openOidc(settings: StrategySettings, passport: Authenticator, config: OidcProviderConfig): Provider {
  const { id, name, label = {}, logo, domains, signUp, secondFactor } = config;
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
    strategy: discoveredStrategy(settings, passport, config),
  };
}

/**
 * The strategy of the library takes the metadata of its provider when it is created. So it is registered as soon as the metadata
 * is known, at the first sign-in, and registered again each time that they are read again.
 */
function discoveredStrategy(settings: StrategySettings, passport: Authenticator, config: OidcProviderConfig): Strategy {
  const { id, scope } = config;
  const discovery = createDiscovery(config, settings.now, settings.answerMs);
  const callbackURL = new URL(callbackPath(id), settings.publicUrl).href;
  let registered: client.Configuration | undefined;

  function register(configuration: client.Configuration): void {
    if (configuration === registered) return;
    const strategy = new OidcStrategy(
      { name: id, config: configuration, callbackURL, scope, sessionKey },
      async (tokens, done) => done(null, await claimsOf(configuration, config, tokens)),
    );
    passport.use(id, strategy);
    registered = configuration;
  }

  async function run(request: OidcRequest) {
    try {
      const configuration = await discovery();
      register(configuration);
      return { configuration, result: await authenticate({ passport, id, withinMs: settings.answerMs }, request) };
    } catch (error) {
      throw oidcRefusalOf(error);
    }
  }

  return {
    async begin({ id: state }, { loginHint, again, lang }) {
      const parameters = {
        ...{ state, nonce: randomBytes(32).toString('base64url'), ui_locales: lang },
        ...(loginHint !== undefined && { login_hint: loginHint }),
        ...(again && { prompt: 'login', max_age: '0' }),
      };
      const request: OidcRequest = { method: 'GET', query: {}, session: {}, search: '', parameters };
      const { result } = await run(request);
      if (result.kind !== 'redirect') throw new Error(`the strategy ${id} did not redirect`);
      // When somebody showed who they are is checked below: the library's check would count what came after that, too.
      const { max_age: _, ...kept } = request.session[sessionKey] ?? {};
      return { url: result.url, kept: { ...kept, ...(again && { againAtS: Math.floor(Date.now() / 1000) }) } };
    },
    async finish(req, attempt) {
      if (attempt === undefined) throw new FederationRefusal('foreign', 'nobody asked');
      const { againAtS, ...kept } = attempt.kept;
      const search = searchOf(req);
      const session = { [sessionKey]: { ...kept } };
      const { result, configuration } = await run({ method: 'GET', query: {}, session, search, parameters: {} });
      if (result.kind === 'fail') throw new FederationRefusal('cancelled', 'access_denied');
      if (result.kind !== 'success') throw new FederationRefusal('invalid', 'neither a code nor an error');
      const said = result.user as Said;
      if (typeof againAtS === 'number') mustBeFresh(said, againAtS, configuration.serverMetadata());
      const shown = freshnessOf(said, { asked: againAtS !== undefined, nowMs: settings.now() });
      return { provider: id, kind: 'oidc', ...identityOf(said, config), ...shown, session: { provider: id } };
    },
  };
}

const mostCharacters = 16_384;

function searchOf(req: Request): string {
  const { search } = new URL(req.originalUrl, 'http://answer.invalid');
  const said = new URLSearchParams(search);
  if (search.length > mostCharacters) throw new FederationRefusal('invalid', 'the answer is too long');
  if (!said.has('code') && !said.has('error')) throw new FederationRefusal('invalid', 'neither a code nor an error');
  return search;
}

/** The library has checked the id token: signature, issuer, audience, nonce, times; userinfo: that it is of the same person. */
async function claimsOf(
  configuration: client.Configuration,
  config: OidcProviderConfig,
  tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers,
): Promise<Said> {
  const claims = tokens.claims();
  if (claims === undefined) throw new FederationRefusal('invalid', 'no id token');
  // The library looks at it only where there are several audiences (Core 1.0, section 3.1.3.7).
  if (claims.azp !== undefined && claims.azp !== config.clientId)
    throw new FederationRefusal('invalid', 'the id token was given to another client');
  mustBelongTogether(tokens.id_token ?? '', claims, tokens.access_token);
  if (!config.userinfo || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const more: Said = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return joined(claims, more);
}

const hashes: Record<string, string> = { '256': 'sha256', '384': 'sha384', '512': 'sha512', DSA: 'sha512' };

/**
 * An id token may say to which access token it belongs (`at_hash`: Core 1.0, section 3.1.3.8). The library does not look at it
 * in this flow; one that belongs to another was mixed from two answers.
 */
export function mustBelongTogether(idToken: string, { at_hash: said }: Said, accessToken: string): void {
  if (said === undefined) return;
  const { alg = '' } = decodeProtectedHeader(idToken);
  const hash = hashes[alg.slice(-3)];
  if (hash === undefined) return;
  const digest = createHash(hash).update(accessToken).digest();
  if (said !== digest.subarray(0, digest.length / 2).toString('base64url'))
    throw new FederationRefusal('invalid', 'the id token belongs to another access token');
}

/** What userinfo says goes before; but whether an address is confirmed is said where the address is. */
export function joined(claims: Said, more: Said): Said {
  const { iss, auth_time } = claims;
  const whole: Said = { ...claims, ...more, iss, auth_time };
  const source = more.email === undefined ? claims : more;
  return { ...whole, email: source.email, email_verified: source.email_verified };
}

/** @param config what stands for what, and whose addresses count as confirmed */
export function identityOf(
  said: Said,
  {
    issuer,
    claims,
    domains,
    verifiedEmails,
  }: Pick<OidcProviderConfig, 'issuer' | 'claims' | 'domains' | 'verifiedEmails'>,
): Omit<UpstreamIdentity, 'provider' | 'kind' | 'session' | 'shownAtMs'> {
  const email = emailOf(said[claims.email ?? 'email']);
  // Said of `email` alone; of another claim nothing is.
  const provider = said.email_verified === true && (claims.email ?? 'email') === 'email';
  // Behind one address of Microsoft's stand the issuers of everybody's organisations, whose word about ours is worth nothing.
  const own = URL.parse(String(said.iss))?.href === URL.parse(issuer)?.href;
  return {
    issuer: subjectOf(said.iss),
    subject: subjectOf(said.sub),
    email,
    emailVerified: provider && own && verifiedEmails === 'domains' && isOf(email, domains),
    ...namesOf({
      given: said[claims.givenName ?? 'given_name'],
      family: said[claims.familyName ?? 'family_name'],
      whole: said.name,
    }),
    picture: pictureOf(said[claims.picture ?? 'picture']),
  };
}

/**
 * A provider that does not say when somebody showed who they are is never taken for one that asked: some ignore `prompt` and
 * `max_age`, and send no `auth_time` (Core 1.0, section 3.1.2.1 demands both).
 */
function freshnessOf(
  said: Said,
  { asked, nowMs }: { asked: boolean; nowMs: number },
): Pick<UpstreamIdentity, 'shownAtMs' | 'stale'> {
  const shownAtMs = shownAt(said, nowMs);
  if (shownAtMs === undefined) return { stale: true };
  return asked ? {} : { shownAtMs };
}

/** By our clock; the provider's is compared with the true time, as the library does. */
function shownAt({ auth_time: at }: Said, nowMs: number): number | undefined {
  if (typeof at !== 'number') return undefined;
  return Math.max(0, Math.floor(nowMs - Math.max(0, Date.now() - at * 1_000)));
}

/** Clocks differ. */
const skewS = 60;

/**
 * Whether somebody showed anew who they are, and did not only come back by a session at the provider. Of a provider that does
 * not say when (`auth_time`, which must come after `max_age`: Core 1.0, section 2), and does not claim to, `freshnessOf` says
 * that the sign-in is not fresh.
 */
export function mustBeFresh(
  said: Said,
  askedAtS: number,
  metadata: Pick<client.ServerMetadata, 'claims_supported'>,
): void {
  const { auth_time: at } = said;
  if (at === undefined && !metadata.claims_supported?.includes('auth_time')) return;
  if (typeof at !== 'number' || at < askedAtS - skewS)
    throw new FederationRefusal('not-fresh', 'the provider did not ask again who it is');
}
