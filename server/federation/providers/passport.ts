import passportModule from 'passport';
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
