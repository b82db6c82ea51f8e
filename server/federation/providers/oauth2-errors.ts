import { type StandardKind, type StandardProvider, standardProviders } from '../../../config/standard-providers.ts';
import { FederationError } from '../identity.ts';

/** Errors of the libraries; their messages contain the provider's text, which may contain tokens. */
interface LibraryError {
  name?: string;
  code?: unknown;
  oauthError?: unknown;
}

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

/** Converts an error of `passport-oauth2` and related strategies. */
export function fromOAuth2Error(error: unknown, kind: StandardKind): FederationError {
  if (error instanceof FederationError) return error;
  const { name = 'error', code, oauthError } = (error ?? {}) as LibraryError;
  if (oauthError instanceof FederationError) return oauthError;
  const { errors }: StandardProvider = standardProviders[kind];
  switch (name) {
    case 'AuthorizationError':
    case 'FacebookAuthorizationError':
      return errors.cancelled.includes(code)
        ? new FederationError('cancelled', toErrorWord(code))
        : new FederationError('provider-error', `authorization: ${toErrorWord(code)}`);
    case 'TokenError':
    case 'FacebookTokenError':
      return new FederationError(
        wrongCode(code, kind) ? 'invalid' : 'provider-error',
        `token endpoint: ${toErrorWord(code)}`,
      );
    case 'UserInfoError':
    case 'GooglePlusAPIError':
    case 'FacebookGraphAPIError':
      return new FederationError('provider-error', `profile: ${toErrorWord(code)}`);
    case 'InternalOAuthError': {
      const { statusCode } = (oauthError ?? {}) as { statusCode?: unknown };
      return new FederationError('provider-error', `status ${toErrorWord(statusCode)}`);
    }
    default:
      return new FederationError('invalid', `unreadable response (${toErrorWord(name)})`);
  }
}
