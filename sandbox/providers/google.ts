import { SignJWT } from 'jose';
import { readBearerToken } from './authorize.ts';
import { codeFlow } from './code-flow.ts';
import { type Grant, randomText } from './grants.ts';
import { toFullName, toSubject } from './people.ts';
import type { StandInSettings } from './settings.ts';

function createIdToken({ clients, now, keys }: StandInSettings, { person, nonce }: Grant): Promise<string> {
  const nowSeconds = Math.floor(now() / 1_000);
  return new SignJWT({
    azp: clients.google.id,
    ...(person.email !== undefined && { email: person.email, email_verified: person.emailVerified }),
    ...(nonce !== undefined && { nonce }),
  })
    .setProtectedHeader({ alg: 'RS256', kid: keys.kid, typ: 'JWT' })
    .setIssuer('https://accounts.google.com')
    .setAudience(clients.google.id)
    .setSubject(toSubject('google', person))
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + 3_600)
    .sign(keys.privateKey);
}

function toUserinfo({ person, scope }: Grant): Record<string, unknown> {
  const isRequested = (name: string) =>
    scope.split(' ').some((value) => value === name || value.endsWith(`/auth/userinfo.${name}`));
  return {
    sub: toSubject('google', person),
    ...(isRequested('profile') && {
      name: toFullName(person),
      given_name: person.givenName,
      ...(person.familyName !== '' && { family_name: person.familyName }),
      picture: person.picture ?? 'https://lh3.googleusercontent.com/a/sandbox=s96-c',
    }),
    ...(isRequested('email') &&
      person.email !== undefined && { email: person.email, email_verified: person.emailVerified }),
  };
}

/**
 * Google's sign-in (developers.google.com/identity/protocols/oauth2/web-server, …/openid-connect), with the paths that
 * www.googleapis.com has for the same endpoints.
 */
export const google = codeFlow('google', {
  otherPaths: { token: ['/oauth2/v4/token'], profile: ['/oauth2/v3/userinfo'] },
  newCode: () => `4/0A${randomText(48)}`,
  newToken: () => `ya29.${randomText(64)}`,
  more: ({ scope }) => ({ scope, authuser: '0', prompt: 'consent' }),
  tokenHeaders: () => ({ 'Cache-Control': 'no-cache, no-store, max-age=0, must-revalidate' }),
  toTokenError(refusal, grantType) {
    switch (refusal) {
      case 'client':
        return { error: 'invalid_client', error_description: 'Unauthorized' };
      case 'grant-type':
        return { error: 'unsupported_grant_type', error_description: `Invalid grant_type: ${grantType}` };
      case 'redirect':
        return { error: 'redirect_uri_mismatch', error_description: 'Bad Request' };
      case 'verifier':
        return { error: 'invalid_grant', error_description: 'Invalid code verifier.' };
      case 'unknown':
        return { error: 'invalid_grant', error_description: 'Malformed auth code.' };
      case 'used':
      case 'expired':
      case 'planned':
        return { error: 'invalid_grant', error_description: 'Bad Request' };
    }
  },
  toTokens: async (accessToken, grant, settings) => ({
    access_token: accessToken,
    expires_in: 3_599,
    scope: grant.scope,
    token_type: 'Bearer',
    id_token: await createIdToken(settings, grant),
  }),
  readToken: (req) => readBearerToken(req, { inQuery: true }),
  profileError: () => ({
    status: 401,
    body: { error: 'invalid_request', error_description: 'Invalid Credentials' },
  }),
  toProfile: toUserinfo,
});
