import { type StandardKind, type StandardProvider, standardProviders } from '../../../config/standard-providers.ts';
import { propertyIn } from '../../shared/index.ts';
import { FederationError } from '../identity.ts';

/** A standard error code; no other part of the response is logged. */
export function toErrorWord(code: unknown): string {
  if (typeof code === 'number') return String(code);
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'without a code';
}

/**
 * `invalid_grant`: the code is unknown, used, another client's, or its verifier is wrong.
 * @param kind the standard provider, which may have other values for it
 */
export function wrongCode(code: unknown, kind?: StandardKind): boolean {
  const provider: StandardProvider | undefined = kind && standardProviders[kind];
  return code === 'invalid_grant' || provider?.errors.wrongCode.includes(code) === true;
}

/**
 * Faults of the registration or the configuration (RFC 6749, sections 4.1.2.1 and 5.2; RFC 9126; OpenID Connect Core
 * 1.0, section 3.1.2.6): no visitor can mend them by another attempt.
 */
const permanentErrors: ReadonlySet<unknown> = new Set([
  ...['invalid_client', 'unauthorized_client', 'invalid_request', 'invalid_scope', 'invalid_target'],
  ...['unsupported_grant_type', 'unsupported_response_type', 'invalid_redirect_uri', 'redirect_uri_mismatch'],
  ...['invalid_request_object', 'invalid_request_uri', 'request_not_supported', 'request_uri_not_supported'],
  ...['registration_not_supported'],
]);

/** The provider does not accept Foyer's credentials. @param kind the standard provider, which may have other values */
export function wrongClient(code: unknown, kind?: StandardKind): boolean {
  const provider: StandardProvider | undefined = kind && standardProviders[kind];
  return (
    code === 'invalid_client' || code === 'unauthorized_client' || provider?.errors.wrongClient.includes(code) === true
  );
}

/** The kind of a refusal that an error code of the provider means, other than a wrong code and a cancelled sign-in. */
export const faultKind = (code: unknown, kind?: StandardKind): 'not-set-up' | 'provider-error' =>
  permanentErrors.has(code) || wrongClient(code, kind) ? 'not-set-up' : 'provider-error';

/**
 * Converts an error of `passport-oauth2` and related strategies. Its message contains the provider's text, which may
 * contain tokens.
 */
export function fromOAuth2Error(error: unknown, kind: StandardKind): FederationError {
  if (error instanceof FederationError) return error;
  const [code, oauthError] = [propertyIn(error, 'code'), propertyIn(error, 'oauthError')];
  if (oauthError instanceof FederationError) return oauthError;
  const { errors }: StandardProvider = standardProviders[kind];
  switch (propertyIn(error, 'name')) {
    case 'AuthorizationError':
    case 'FacebookAuthorizationError':
      return errors.cancelled.includes(code)
        ? new FederationError('cancelled', toErrorWord(code))
        : new FederationError(faultKind(code), `authorization: ${toErrorWord(code)}`);
    case 'TokenError':
    case 'FacebookTokenError':
      return new FederationError(
        wrongCode(code, kind) ? 'invalid' : faultKind(code, kind),
        `token endpoint: ${toErrorWord(code)}`,
      );
    case 'UserInfoError':
    case 'GooglePlusAPIError':
    case 'FacebookGraphAPIError':
      return new FederationError('provider-error', `profile: ${toErrorWord(code)}`);
    case 'InternalOAuthError':
      return new FederationError('provider-error', `status ${toErrorWord(propertyIn(oauthError, 'statusCode'))}`);
    default:
      return new FederationError(
        'invalid',
        `unreadable response (${toErrorWord(propertyIn(error, 'name') ?? 'error')})`,
      );
  }
}
