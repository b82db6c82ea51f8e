import type { Request } from 'express';
import type { StandardProviderConfig } from '../../../config/providers.ts';
import { FederationRefusal, type ProviderKind, type UpstreamIdentity } from '../identity.ts';
import { callbackPath, type Provider, type StrategySettings } from '../providers.ts';
import type { Kept, Strategy } from '../strategy.ts';
import { ask } from './ask.ts';
import { refusalOf } from './oauth2-errors.ts';
import { run } from './passport.ts';

/** What google, facebook and amazon have in common: Passport's strategies that build upon `passport-oauth2`. */

/** What a strategy of this family is given in place of a request. */
interface Exchange {
  query: Record<string, string>;
  attemptId: string;
  kept: { verifier?: string };
}

/**
 * Its `state` is the attempt's id, and its verifier (PKCE) is kept with the attempt. `passport-oauth2` itself would keep one
 * per session, which two tabs take from each other (`security.md`, rule 15).
 */
const store = {
  // Five parameters and four: it counts them.
  store(
    { attemptId, kept }: Exchange,
    verifier: string | undefined,
    _state: unknown,
    _meta: unknown,
    done: (error: null, state: string) => void,
  ) {
    if (verifier !== undefined) kept.verifier = verifier;
    done(null, attemptId);
  },
  verify(
    { attemptId, kept }: Exchange,
    state: string,
    _meta: unknown,
    done: (error: null, ok: string | boolean, state?: unknown) => void,
  ) {
    done(null, state === attemptId && (kept.verifier ?? true));
  },
};

export interface Profile {
  /** As the provider wrote it. */
  _json: Record<string, unknown>;
}

/** What all three constructors take. */
export interface FamilyOptions {
  clientID: string;
  clientSecret: string;
  callbackURL: string;
  store: typeof store;
  /** S256: a code that was stolen is nothing without the attempt for which it was given (RFC 9700, section 2.1.1). */
  pkce: true;
}
export type Verify = (
  accessToken: string,
  refreshToken: string,
  profile: Profile,
  done: (error: null, profile: Profile) => void,
) => void;

/** The tokens end here. */
const verify: Verify = (_accessToken, _refreshToken, profile, done) => done(null, profile);

/** node-oauth's client, of which a strategy has one. */
interface OAuthClient {
  _useAuthorizationHeaderForGET: boolean;
  _request(
    method: string,
    url: string,
    headers: Record<string, string>,
    body: string,
    accessToken: string | null,
    done: (error: unknown, text?: string) => void,
  ): void;
}
export interface FamilyStrategy {
  _oauth2?: OAuthClient;
}

interface Made {
  settings: StrategySettings;
  id: ProviderKind & ('google' | 'facebook' | 'amazon');
  name: string;
  /** Its one name as an issuer. */
  issuer: string;
  credentials: { id: string | undefined; secret: string | undefined };
  configured: StandardProviderConfig;
  refusesEmbeddedBrowsers: boolean;
  /** Whether the token is sent in a header where the profile is read; else in the address, as Facebook wants it. */
  bearer: boolean;
  open(options: FamilyOptions, verify: Verify): FamilyStrategy;
  /** What its `authorizationParams` knows. */
  options(asked: { loginHint?: string | undefined; again: boolean }): object;
  person(said: Record<string, unknown>): Omit<UpstreamIdentity, 'provider' | 'kind' | 'issuer' | 'session'>;
}

/** Undefined: it has no credentials. */
export function openStandard(made: Made): Provider | undefined {
  const { settings, id, name, issuer, credentials, configured } = made;
  if (credentials.id === undefined || credentials.secret === undefined) return undefined;
  const passport = made.open(
    {
      clientID: credentials.id,
      clientSecret: credentials.secret,
      callbackURL: new URL(callbackPath(id), settings.publicUrl).href,
      store,
      pkce: true,
    },
    verify,
  );
  const go = (exchange: Exchange, options: object) =>
    run(passport, exchange, options, {
      withinMs: settings.answerMs,
      prepare: (running, fail) => askBy(running, made.bearer, fail, settings.answerMs),
    }).catch((error: unknown) => {
      throw refusalOf(error);
    });

  const strategy: Strategy = {
    async begin({ id: attemptId }, asked) {
      const kept: Kept = {};
      const outcome = await go({ query: {}, attemptId, kept }, made.options(asked));
      if (outcome.kind !== 'redirect') throw new Error(`${id} did not begin`);
      return { url: outcome.url, kept };
    },
    async finish(req, attempt) {
      if (attempt === undefined) throw new FederationRefusal('foreign', 'nobody asked');
      const { verifier } = attempt.kept;
      const kept = typeof verifier === 'string' ? { verifier } : {};
      const answer = answerIn(req);
      if (answer.state !== attempt.id) throw new FederationRefusal('invalid', 'the state of another attempt');
      const outcome = await go({ query: answer, attemptId: attempt.id, kept }, {});
      if (outcome.kind === 'fail') throw new FederationRefusal('cancelled', 'access_denied');
      if (outcome.kind !== 'success') throw new FederationRefusal('invalid', 'neither a code nor an error');
      const identity = made.person((outcome.user as Profile)._json);
      return { provider: id, kind: id, issuer, ...identity, session: { provider: id } };
    },
  };
  return {
    ...{ id, kind: id, name, label: {}, logo: undefined, strategy },
    domains: configured.domains ?? [],
    signUp: configured.signUp ?? true,
    secondFactor: configured.secondFactor ?? 'ask',
    refusesEmbeddedBrowsers: made.refusesEmbeddedBrowsers,
  };
}

const mostCharacters = 4_096;

/** Of the answer, what these protocols know: each parameter once (RFC 6749, section 3.1), of a length that may be. */
function answerIn(req: Request): Record<string, string> {
  const said: Record<string, string> = {};
  for (const name of ['code', 'state', 'error', 'error_code']) {
    const value = req.query[name];
    if (value === undefined || value === '') continue;
    if (typeof value !== 'string' || value.length > mostCharacters)
      throw new FederationRefusal('invalid', `${name} stands there twice or is too long`);
    said[name] = value;
  }
  return said;
}

/**
 * Lets one run of a strategy ask by `ask`: node-oauth by itself waits for ever, reads without end, and what is thrown after
 * it reads an answer ends the process.
 */
function askBy(
  running: FamilyStrategy,
  bearer: boolean,
  fail: (error: unknown) => void,
  withinMs: number | undefined,
): void {
  const oauth2: OAuthClient = Object.create(running._oauth2 as OAuthClient);
  oauth2._useAuthorizationHeaderForGET = bearer;
  oauth2._request = (method, url, headers, body, accessToken, done) => {
    const address = new URL(url);
    if (accessToken) address.searchParams.set('access_token', accessToken);
    const init = { method, headers: { ...headers, Accept: 'application/json' }, ...(method === 'POST' && { body }) };
    ask(address, init, withinMs)
      .then(({ status, text }) => {
        // The shape that the strategies know.
        if (status < 200 || status > 299) done({ statusCode: status, data: text });
        else done(null, object(text, address.origin));
      }, done)
      .catch(fail);
  };
  running._oauth2 = oauth2;
}

/** Both what a token endpoint and what a profile answers is an object; the strategies take it for granted. */
function object(text: string, origin: string): string {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    throw new FederationRefusal('invalid', `${origin}: no JSON`);
  }
  if (typeof said !== 'object' || said === null || Array.isArray(said))
    throw new FederationRefusal('invalid', `${origin}: no object`);
  if ('access_token' in said && (typeof said.access_token !== 'string' || said.access_token === ''))
    throw new FederationRefusal('invalid', `${origin}: no access token`);
  return text;
}
