/**
 * For an app that has `passport-openidconnect` already: the same strategy with PKCE (RFC 7636), which Foyer demands of every
 * app, and which that library does not know. New apps take `openid-client/passport`, as app.mjs does.
 */
import { createHash, randomBytes } from 'node:crypto';
// @ts-expect-error it has no types
import OpenIDConnectStrategy from 'passport-openidconnect';

const challengeOf = (/** @type {string} */ verifier) => createHash('sha256').update(verifier).digest('base64url');

/**
 * What it takes, and what of it is used here: its authors open `_oauth2` to subclasses.
 * @typedef {{ getOAuthAccessToken(code: string, parameters: object, done: unknown): void }} TokenClient
 * @typedef {{ name: string, _oauth2: TokenClient, authorizationParams(): object,
 *   authenticate(req: import('express').Request, options?: object): void }} Strategy
 */
const Base = /** @type {new (options: object, verify: (...given: any[]) => void) => Strategy} */ (
  OpenIDConnectStrategy
);

/** Construct it with `nonce: true`. The verifier of the newest sign-in is kept in the session. */
export class PkceStrategy extends Base {
  /**
   * Passport makes an object of its own for each request, so what is changed here is this request's alone.
   * @override @param {import('express').Request} req @param {object} [options]
   */
  authenticate(req, options) {
    const session = /** @type {{ pkceVerifier?: string }} */ (/** @type {unknown} */ (req.session));
    const comesBack = req.query.code !== undefined || req.query.error !== undefined;
    const verifier = comesBack ? session.pkceVerifier : randomBytes(32).toString('base64url');
    delete session.pkceVerifier;
    if (!comesBack) session.pkceVerifier = verifier;
    this.authorizationParams = () => ({ code_challenge: challengeOf(verifier ?? ''), code_challenge_method: 'S256' });
    /** @type {Strategy} */
    const { _oauth2: client } = this;
    /** @type {TokenClient['getOAuthAccessToken']} */
    const getOAuthAccessToken = (code, parameters, done) =>
      client.getOAuthAccessToken(code, { ...parameters, code_verifier: verifier }, done);
    Object.assign(this, { _oauth2: Object.assign(Object.create(client), { getOAuthAccessToken }) });
    super.authenticate(req, options);
  }
}
