import type { Request } from 'express';
import type OAuth2Strategy from 'passport-oauth2';
import type { AttemptState } from './passport.ts';

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
