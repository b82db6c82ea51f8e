import { expiredThere, FederationRefusal } from '../identity.ts';
import { word, wrongCode } from './oauth2-errors.ts';

interface Thrown {
  name?: string;
  code?: unknown;
  cause?: unknown;
  /** `error` of RFC 6749, sections 4.1.2.1 and 5.2. */
  error?: unknown;
  error_description?: unknown;
  status?: unknown;
}

/** What an error of openid-client is to this house. Its causes hold answers, with tokens, so nothing of them is told. */
export function oidcRefusalOf(thrown: unknown): FederationRefusal {
  if (thrown instanceof FederationRefusal) return thrown;
  const { name = 'error', code, cause, error, error_description } = (thrown ?? {}) as Thrown;
  // A request of ours that failed comes wrapped.
  if (cause instanceof FederationRefusal) return cause;
  switch (code) {
    case 'OAUTH_AUTHORIZATION_RESPONSE_ERROR':
      // Keycloak's words (OpenID Connect Core 1.0, section 3.1.2.6 knows none for it).
      if (error === 'temporarily_unavailable' && error_description === 'authentication_expired')
        return new FederationRefusal('provider-error', expiredThere);
      return error === 'access_denied'
        ? new FederationRefusal('cancelled', 'access_denied')
        : new FederationRefusal('provider-error', `authorization: ${word(error)}`);
    case 'OAUTH_RESPONSE_BODY_ERROR':
      return new FederationRefusal(wrongCode(error) ? 'invalid' : 'provider-error', `token endpoint: ${word(error)}`);
    case 'OAUTH_WWW_AUTHENTICATE_CHALLENGE':
      return new FederationRefusal('provider-error', 'it does not take our credentials or token');
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM': {
      const { status } = (cause ?? {}) as Thrown;
      return new FederationRefusal('provider-error', `status ${word(status)}`);
    }
    case 'OAUTH_TIMEOUT':
      return new FederationRefusal('unreachable', 'no answer in time');
    default:
      return new FederationRefusal('invalid', `${word(code ?? name)}${claimOf(cause)}`);
  }
}

/** Which claim was wrong, where the library says it: its name is no secret, its value may be. */
function claimOf(cause: unknown): string {
  const { cause: inner } = (cause ?? {}) as Thrown;
  const { claim, attribute } = (inner ?? {}) as { claim?: unknown; attribute?: unknown };
  const name = claim ?? attribute;
  return name === undefined ? '' : `: ${word(name)}`;
}
