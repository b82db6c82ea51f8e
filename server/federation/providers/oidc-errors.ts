import { propertyIn } from '../../shared/index.ts';
import { expiredThere, FederationError } from '../identity.ts';
import { faultKind, toErrorWord, wrongClient, wrongCode } from './oauth2-errors.ts';

/** The error word with which an endpoint for the client's requests has answered (RFC 6749, section 5.2). */
export function readErrorWord(thrown: unknown): string | undefined {
  const isRefusal = propertyIn(thrown, 'code') === 'OAUTH_RESPONSE_BODY_ERROR';
  return isRefusal ? toErrorWord(propertyIn(thrown, 'error')) : undefined;
}
/** The provider does not accept Foyer's credentials, or the way in which they are sent. */
export const isWrongClient = (thrown: unknown): boolean => wrongClient(readErrorWord(thrown));
/** The provider accepts the credentials, and refuses the code. */
export const isWrongCode = (thrown: unknown): boolean => wrongCode(readErrorWord(thrown));

/**
 * Converts an error of openid-client. Its causes contain responses with tokens, so nothing of them is passed on.
 * @param endpoint the one that refuses a request, for the log
 */
export function fromOidcError(thrown: unknown, endpoint = 'token endpoint'): FederationError {
  if (thrown instanceof FederationError) return thrown;
  const [code, cause] = [propertyIn(thrown, 'code'), propertyIn(thrown, 'cause')];
  // RFC 6749, sections 4.1.2.1 and 5.2.
  const error = propertyIn(thrown, 'error');
  // An error of Foyer's own request is wrapped.
  if (cause instanceof FederationError) return cause;
  switch (code) {
    case 'OAUTH_AUTHORIZATION_RESPONSE_ERROR':
      return fromAuthorizationError(error, propertyIn(thrown, 'error_description'));
    case 'OAUTH_RESPONSE_BODY_ERROR':
      return new FederationError(wrongCode(error) ? 'invalid' : faultKind(error), `${endpoint}: ${toErrorWord(error)}`);
    case 'OAUTH_WWW_AUTHENTICATE_CHALLENGE':
      return new FederationError('provider-error', 'client credentials or token rejected');
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return new FederationError('provider-error', `status ${toErrorWord(propertyIn(cause, 'status'))}`);
    case 'OAUTH_TIMEOUT':
      return new FederationError('unreachable', 'no answer in time');
    default:
      return fromTokenError(thrown);
  }
}

/** Statuses of a client's fault that may pass by themselves (RFC 9110, section 15.5; RFC 6585, section 4). */
const passing = new Set([408, 425, 429]);
/** Of a moved document (RFC 9110, section 15.4): no redirect is followed. */
const moved = new Set([301, 308]);

/**
 * Converts an error of the discovery. Another issuer in the document, no document and a moved one are faults of the
 * configured issuer, which no visitor can mend by another attempt.
 */
export function fromDiscoveryError(thrown: unknown): FederationError {
  const refusal = fromOidcError(thrown);
  const cause = propertyIn(thrown, 'cause');
  const status = propertyIn(cause, 'status');
  const isAbsent = typeof status === 'number' && ((status >= 400 && status < 500) || moved.has(status));
  if (refusal.kind === 'provider-error' && isAbsent && !passing.has(status))
    return new FederationError('not-set-up', `discovery: status ${status}`);
  const { attribute } = Object(propertyIn(cause, 'cause') ?? cause);
  if (refusal.kind === 'invalid' && attribute === 'issuer')
    return new FederationError('not-set-up', 'discovery: the document names another issuer');
  return refusal;
}

/** A token that the library cannot read, or that it does not believe. */
function fromTokenError(thrown: unknown): FederationError {
  const [code, cause] = [propertyIn(thrown, 'code'), propertyIn(thrown, 'cause')];
  if (code === 'OAUTH_DECRYPTION_FAILED') return fromDecryptionError(cause);
  // A symmetric algorithm although discovery names none: the registration at the provider says so.
  const symmetric = code === 'OAUTH_INVALID_RESPONSE' && tokenAlgorithm(cause)?.startsWith('HS');
  if (symmetric || code === 'OAUTH_UNSUPPORTED_OPERATION')
    return new FederationError('not-set-up', describeUnsupported(cause));
  return new FederationError(
    'invalid',
    `${toErrorWord(code ?? propertyIn(thrown, 'name') ?? 'error')}${missingClaim(cause)}`,
  );
}

/** RFC 6749, section 4.1.2.1; OpenID Connect Core 1.0, section 3.1.2.6. */
function fromAuthorizationError(error: unknown, description: unknown): FederationError {
  // Keycloak's text: the standards have no code for it.
  if (error === 'temporarily_unavailable' && description === 'authentication_expired')
    return new FederationError('provider-error', expiredThere);
  return error === 'access_denied'
    ? new FederationError('cancelled', 'access_denied')
    : new FederationError(faultKind(error), `authorization: ${toErrorWord(error)}`);
}

/** Without a cause: the token is for another key. Its words are the same whatever part of a cipher text is wrong. */
function fromDecryptionError(error: unknown): FederationError {
  const code = propertyIn(error, 'code');
  if (error === undefined) return new FederationError('not-set-up', 'the id token is encrypted for another key');
  return code === 'ERR_JOSE_ALG_NOT_ALLOWED'
    ? new FederationError('not-set-up', 'the id token is encrypted in a way that is not supported')
    : new FederationError('invalid', 'OAUTH_DECRYPTION_FAILED');
}

/** The algorithm of a token that the library refuses, from the cause of its error. */
function tokenAlgorithm(error: unknown): string | undefined {
  const cause = propertyIn(error, 'cause');
  const algorithm = propertyIn(cause, 'alg') ?? propertyIn(propertyIn(cause, 'header'), 'alg');
  return typeof algorithm === 'string' ? algorithm : undefined;
}

/** A token that Foyer cannot read at any sign-in. */
function describeUnsupported(error: unknown): string {
  if (propertyIn(error, 'message') === 'JWE decryption is not configured')
    return 'the id token is encrypted, and there is no decryptionKey';
  const algorithm = tokenAlgorithm(error);
  return algorithm === undefined
    ? 'an answer in a form that is not supported'
    : `the token is signed with ${toErrorWord(algorithm)}, which is not supported`;
}

/** The name of the invalid claim, if the library gives it: the name is no secret, the value may be. */
function missingClaim(cause: unknown): string {
  const inner = propertyIn(cause, 'cause');
  const name = propertyIn(inner, 'claim') ?? propertyIn(inner, 'attribute');
  return name === undefined ? '' : `: ${toErrorWord(name)}`;
}
