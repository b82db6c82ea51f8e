import type { Request } from 'express';
import passportModule from 'passport';
import type OAuth2Strategy from 'passport-oauth2';
import type { FederationAttempt } from '../attempts.ts';
import { FederationError } from '../identity.ts';

/** The result of a strategy. Its errors reject instead. */
export type AuthenticateResult =
  | { kind: 'redirect'; url: string }
  | { kind: 'success'; user: unknown }
  /** The strategy's own text is omitted: it may repeat the provider's data. */
  | { kind: 'fail'; status: unknown };

export type Authenticator = passportModule.Authenticator;

/** An instance for the strategies of one configuration: the package's own one is shared by the whole process. */
export const createPassport = (): Authenticator => new passportModule.Passport();

/** A strategy that Passport has registered under the id of its provider. */
interface RegisteredStrategy {
  passport: Authenticator;
  id: string;
  /** Limit of one call, with all requests to the provider. */
  withinMs?: number | undefined;
}

/**
 * The request that a strategy reads. It is never the true request: at the button of a provider that has the parameters
 * of a client app's own authorization request, and strategies would read `code`, `state` and `error`, in the query or
 * in a form, as the response of a provider.
 */
export interface StrategyRequest {
  query: Record<string, string>;
  /** The state of the sign-in. It belongs to one attempt, not to a session, which all tabs share. */
  attempt?: AttemptState;
}

/**
 * The part of an attempt that a strategy reads and writes. `id` is the `state` parameter; `strategyState` is stored
 * with the attempt.
 */
export type AttemptState = Pick<FederationAttempt, 'id' | 'strategyState'>;

/** Timeout of a provider's response. */
export const providerTimeoutMs = 10_000;

/**
 * Runs `passport.authenticate` once. The callback of Passport becomes the result; no session is written, and nothing is
 * sent to the browser: the route decides how to redirect to the provider.
 * @throws {FederationError} unreachable, after `withinMs`; and every error of the strategy
 */
export function authenticate(
  { passport, id, withinMs = providerTimeoutMs }: RegisteredStrategy,
  request: StrategyRequest,
  options: object = {},
): Promise<AuthenticateResult> {
  const { promise, resolve, reject } = Promise.withResolvers<AuthenticateResult>();
  const timer = setTimeout(() => reject(new FederationError('unreachable', 'no answer in time')), withinMs);
  const callback = (error: unknown, user?: unknown, _info?: unknown, status?: unknown) => {
    if (user === false) resolve({ kind: 'fail', status });
    else if (user === undefined || user === null) reject(error ?? new Error(`the strategy ${id} found no user`));
    else resolve({ kind: 'success', user });
  };
  const next = (error?: unknown) => reject(error ?? new Error(`the strategy ${id} passed`));
  const response = redirectResponse((url) => resolve({ kind: 'redirect', url }));
  try {
    passport.authenticate(id, { session: false, ...options }, callback)(request, response, next);
  } catch (error) {
    reject(error);
  }
  return promise.finally(() => clearTimeout(timer));
}

/** The part of a response with which Passport redirects. */
function redirectResponse(onRedirect: (url: string) => void) {
  let location = '';
  return {
    statusCode: 200,
    setHeader(name: string, value: string) {
      if (name === 'Location') location = value;
    },
    end() {
      onRedirect(location);
    },
  };
}

/** The part of a request that the store reads. Only requests of `authenticate` have an attempt. */
interface AttemptRequest {
  query: Request['query'];
  attempt?: AttemptState;
}

/**
 * Keeps `state` and the PKCE verifier of an OAuth 2.0 request in its attempt (RFC 6749, section 10.12; RFC 7636). The
 * stores of `passport-oauth2` keep one of each per session, which two tabs would overwrite.
 * `passport-oauth2` counts the parameters: only a `store` of five and a `verify` of four get the verifier.
 */
export class AttemptStateStore implements OAuth2Strategy.StateStore {
  store(
    req: AttemptRequest,
    verifier?: unknown,
    _state?: unknown,
    _meta?: unknown,
    callback?: OAuth2Strategy.StateStoreStoreCallback,
  ): void {
    const { attempt } = req;
    if (!attempt || typeof verifier !== 'string' || !callback)
      throw new Error('an authorization request without an attempt or without PKCE');
    attempt.strategyState.verifier = verifier;
    callback(null, attempt.id);
  }

  verify(
    req: AttemptRequest,
    state: string,
    _meta?: unknown,
    callback?: OAuth2Strategy.StateStoreVerifyCallback,
  ): void {
    const { attempt } = req;
    if (!attempt || !callback) throw new Error('an authorization response without an attempt');
    const { verifier } = attempt.strategyState;
    const ok = state === attempt.id && typeof verifier === 'string' && verifier;
    // Its type does not know that the verifier is the result.
    Reflect.apply(callback, undefined, [null, ok]);
  }
}
