import { FederationRefusal } from '../identity.ts';

/** As libraries throw them; their messages hold what the provider said, which may hold tokens. */
interface Thrown {
  name?: string;
  code?: unknown;
  oauthError?: unknown;
}

/** A code of an error as protocols know them; nothing else of what was said goes to the log. */
export function word(code: unknown): string {
  if (typeof code === 'number') return String(code);
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'without a code';
}

/** `invalid_grant`: the code is unknown, used, of somebody else, or its verifier is wrong. Facebook says 100 for it. */
export const wrongCode = (code: unknown) => code === 'invalid_grant' || code === 100;

/** What an error of `passport-oauth2` and of its family is to this house. */
export function refusalOf(error: unknown): FederationRefusal {
  if (error instanceof FederationRefusal) return error;
  const { name = 'error', code, oauthError } = (error ?? {}) as Thrown;
  if (oauthError instanceof FederationRefusal) return oauthError;
  switch (name) {
    case 'AuthorizationError':
    case 'FacebookAuthorizationError':
      return new FederationRefusal('provider-error', `authorization: ${word(code)}`);
    case 'TokenError':
    case 'FacebookTokenError':
      return new FederationRefusal(wrongCode(code) ? 'invalid' : 'provider-error', `token endpoint: ${word(code)}`);
    case 'UserInfoError':
    case 'GooglePlusAPIError':
    case 'FacebookGraphAPIError':
      return new FederationRefusal('provider-error', `profile: ${word(code)}`);
    case 'InternalOAuthError': {
      const { statusCode } = (oauthError ?? {}) as { statusCode?: unknown };
      return new FederationRefusal('provider-error', `status ${word(statusCode)}`);
    }
    default:
      return new FederationRefusal('invalid', `the answer cannot be read (${word(name)})`);
  }
}
