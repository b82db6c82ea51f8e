import type { Request } from 'express';
import type OAuth2Strategy from 'passport-oauth2';
import { type StandardKind, standardProviders } from '../../../config/standard-providers.ts';
import { FederationError, type UpstreamIdentity } from '../identity.ts';
import type { ProviderStrategy } from '../provider-strategy.ts';
import { callbackPath, type Provider, type StrategySettings } from '../providers.ts';
import { standardEndpoints, standardProviderIds } from './endpoints.ts';
import { LimitedOAuth2Client } from './oauth2-client.ts';
import { fromOAuth2Error } from './oauth2-errors.ts';
import {
  type AttemptState,
  AttemptStateStore,
  type Authenticator,
  authenticate,
  type StrategyRequest,
} from './passport.ts';

/** The common part of the standard providers: Passport's strategies that are based on `passport-oauth2`. */

/** The claims of a profile, as the provider sent them. */
type Claims = Record<string, unknown>;

/** The tokens are not passed on from here. */
export const verifyProfile = (
  _accessToken: string,
  _refreshToken: string,
  profile: { _json: object },
  done: (error: null, claims: Claims) => void,
): void => done(null, { ...profile._json });

/** The parameters of the strategy of one provider. */
export interface OAuth2Setup {
  options: {
    clientID: string;
    clientSecret: string;
    callbackURL: string;
    authorizationURL: string;
    tokenURL: string;
    scope: string[];
    store: AttemptStateStore;
    /** S256: a stolen code is worthless without its attempt (RFC 9700, section 2.1.1). */
    pkce: true;
  };
  profileURL: string;
  client: LimitedOAuth2Client;
}

interface OAuth2ProviderOptions {
  settings: StrategySettings;
  passport: Authenticator;
  kind: StandardKind;
  /** Whether the token is sent in a header when the profile is read; else in the address, as Facebook requires. */
  bearer: boolean;
  open(setup: OAuth2Setup): OAuth2Strategy;
  /** The options of its `authorizationParams`. */
  options(requested: { loginHint?: string | undefined; repeated: boolean }): object;
  person(claims: Claims): Omit<UpstreamIdentity, 'provider' | 'kind' | 'issuer' | 'session'>;
}

/** Undefined: it has no credentials. */
export function createOAuth2Provider(created: OAuth2ProviderOptions): Provider | undefined {
  const { settings, passport, kind } = created;
  const { name, credentials, scopes, refusesEmbeddedBrowsers } = standardProviders[kind];
  const clientID = settings.config[credentials.id.variable];
  const clientSecret = settings.config[credentials.secret.variable];
  if (clientID === undefined || clientSecret === undefined) return undefined;
  const id = standardProviderIds[kind];
  const endpoints = standardEndpoints(kind, settings.config);
  const configured = settings.file[kind];
  const options = {
    clientID,
    clientSecret,
    callbackURL: new URL(callbackPath(id), settings.publicUrl).href,
    authorizationURL: endpoints.authorization,
    tokenURL: endpoints.token,
    scope: [...scopes],
    store: new AttemptStateStore(),
    pkce: true as const,
  };
  const client = new LimitedOAuth2Client({ ...options, bearer: created.bearer }, settings);
  passport.use(id, created.open({ options, profileURL: endpoints.profile, client }));
  return {
    id,
    kind,
    name,
    label: {},
    logo: undefined,
    domains: configured.domains ?? [],
    signUp: configured.signUp ?? true,
    secondFactor: configured.secondFactor ?? 'ask',
    refusesEmbeddedBrowsers,
    strategy: registeredStrategy(created),
  };
}

/** Runs the strategy that Passport has registered under the provider's id. */
function registeredStrategy({ settings, passport, kind, ...created }: OAuth2ProviderOptions): ProviderStrategy {
  const { issuer } = standardProviders[kind];
  const id = standardProviderIds[kind];
  const run = (request: StrategyRequest, options: object) =>
    authenticate({ passport, id, withinMs: settings.answerMs }, request, options).catch((error: unknown) => {
      throw fromOAuth2Error(error, kind);
    });
  return {
    async begin({ id: state }, requested) {
      const attempt: AttemptState = { id: state, strategyState: {} };
      const result = await run({ query: {}, attempt }, created.options(requested));
      if (result.kind !== 'redirect') throw new Error(`the strategy ${id} did not redirect`);
      return { url: result.url, stored: attempt.strategyState };
    },
    async finish(req, attempt) {
      if (attempt === undefined) throw new FederationError('foreign', 'unsolicited response');
      const query = readCallbackParams(req);
      // The strategy compares it only if the response has a code.
      if (query.state !== attempt.id) throw new FederationError('invalid', 'the state of another attempt');
      const result = await run({ query, attempt: { id: attempt.id, strategyState: { ...attempt.strategyState } } }, {});
      if (result.kind === 'redirect') throw new FederationError('invalid', 'neither a code nor an error');
      if (result.kind === 'fail')
        throw result.status === 403
          ? new FederationError('invalid', 'the attempt has no verifier')
          : new FederationError('cancelled', 'access_denied');
      const identity = created.person(result.user as Claims);
      return { provider: id, kind, issuer, ...identity, session: { provider: id } };
    },
  };
}

const maxCharacters = 4_096;

/** The known parameters of the response: each once (RFC 6749, section 3.1), of bounded length. */
function readCallbackParams(req: Request): Record<string, string> {
  const response: Record<string, string> = {};
  for (const name of ['code', 'state', 'error', 'error_code']) {
    const value = req.query[name];
    if (value === undefined || value === '') continue;
    if (typeof value !== 'string' || value.length > maxCharacters)
      throw new FederationError('invalid', `${name} is repeated or too long`);
    response[name] = value;
  }
  return response;
}
