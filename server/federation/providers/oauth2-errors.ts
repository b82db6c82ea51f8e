import { FederationError } from '../identity.ts';

/** As libraries throw them; their messages hold what the provider said, which may hold tokens. */
interface LibraryError {
  name?: string;
  code?: unknown;
  oauthError?: unknown;
}

/** A code of an error as protocols know them; nothing else of what was said goes to the log. */
export function toErrorWord(code: unknown): string {
  if (typeof code === 'number') return String(code);
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'without a code';
}

/** `invalid_grant`: the code is unknown, used, of somebody else, or its verifier is wrong. Facebook says 100 for it. */
export const wrongCode = (code: unknown) => code === 'invalid_grant' || code === 100;

/** What an error of `passport-oauth2` and of its family is to this house. */
export function fromOAuth2Error(error: unknown): FederationError {
  if (error instanceof FederationError) return error;
  const { name = 'error', code, oauthError } = (error ?? {}) as LibraryError;
  if (oauthError instanceof FederationError) return oauthError;
  switch (name) {
    case 'AuthorizationError':
    case 'FacebookAuthorizationError':
      return new FederationError('provider-error', `authorization: ${toErrorWord(code)}`);
    case 'TokenError':
    case 'FacebookTokenError':
      return new FederationError(
        wrongCode(code) ? 'invalid' : 'provider-error',
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
      return new FederationError('invalid', `the answer cannot be read (${toErrorWord(name)})`);
  }
}
