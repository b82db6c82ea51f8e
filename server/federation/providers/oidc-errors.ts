import { expiredThere, FederationError } from '../identity.ts';
import { toErrorWord, wrongCode } from './oauth2-errors.ts';

interface LibraryError {
  name?: string;
  code?: unknown;
  cause?: unknown;
  /** `error` of RFC 6749, sections 4.1.2.1 and 5.2. */
  error?: unknown;
  error_description?: unknown;
  status?: unknown;
}

/** Converts an error of openid-client. Its causes contain responses with tokens, so nothing of them is passed on. */
export function fromOidcError(thrown: unknown): FederationError {
  if (thrown instanceof FederationError) return thrown;
  const { name = 'error', code, cause, error, error_description } = (thrown ?? {}) as LibraryError;
  // An error of Foyer's own request is wrapped.
  if (cause instanceof FederationError) return cause;
  switch (code) {
    case 'OAUTH_AUTHORIZATION_RESPONSE_ERROR':
      // Keycloak's text (OpenID Connect Core 1.0, section 3.1.2.6 has no code for it).
      if (error === 'temporarily_unavailable' && error_description === 'authentication_expired')
        return new FederationError('provider-error', expiredThere);
      return error === 'access_denied'
        ? new FederationError('cancelled', 'access_denied')
        : new FederationError('provider-error', `authorization: ${toErrorWord(error)}`);
    case 'OAUTH_RESPONSE_BODY_ERROR':
      return new FederationError(
        wrongCode(error) ? 'invalid' : 'provider-error',
        `token endpoint: ${toErrorWord(error)}`,
      );
    case 'OAUTH_WWW_AUTHENTICATE_CHALLENGE':
      return new FederationError('provider-error', 'client credentials or token rejected');
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM': {
      const { status } = (cause ?? {}) as LibraryError;
      return new FederationError('provider-error', `status ${toErrorWord(status)}`);
    }
    case 'OAUTH_TIMEOUT':
      return new FederationError('unreachable', 'no answer in time');
    default:
      return new FederationError('invalid', `${toErrorWord(code ?? name)}${missingClaim(cause)}`);
  }
}

/** The name of the invalid claim, if the library gives it: the name is no secret, the value may be. */
function missingClaim(cause: unknown): string {
  const { cause: inner } = (cause ?? {}) as LibraryError;
  const { claim, attribute } = (inner ?? {}) as { claim?: unknown; attribute?: unknown };
  const name = claim ?? attribute;
  return name === undefined ? '' : `: ${toErrorWord(name)}`;
}
