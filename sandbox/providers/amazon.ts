import { readBearerToken } from './authorize.ts';
import { codeFlow } from './code-flow.ts';
import { randomText } from './grants.ts';

/**
 * Login with Amazon (developer.amazon.com/docs/login-with-amazon/authorization-code-grant.html, …/obtain-customer-profile.html).
 */
export const amazon = codeFlow('amazon', {
  newCode: () => `AN${randomText(15)}`,
  newToken: () => `Atza|${randomText(96)}`,
  more: ({ scope }) => ({ scope }),
  errors: {
    refused: { error: 'access_denied', error_description: 'Access not permitted.' },
    failed: { error: 'server_error', error_description: 'The server encountered an unexpected error.' },
  },
  tokenHeaders: () => ({ 'x-amzn-requestid': randomText(16) }),
  toTokenError(refusal) {
    if (refusal === 'client') return { error: 'invalid_client', error_description: 'Client authentication failed' };
    if (refusal === 'grant-type') {
      const why = 'The authorization grant type is not supported by the authorization server';
      return { error: 'unsupported_grant_type', error_description: why };
    }
    const why = `The request has an invalid grant parameter : ${refusal === 'redirect' ? 'redirect_uri' : 'code'}`;
    return { error: 'invalid_grant', error_description: why, request_id: randomText(16) };
  },
  toTokens: (accessToken) => ({
    access_token: accessToken,
    refresh_token: `Atzr|${randomText(96)}`,
    token_type: 'bearer',
    expires_in: 3_600,
  }),
  readToken: (req) => req.get('x-amz-access-token') ?? readBearerToken(req, { inQuery: true }),
  profileError: () => ({
    status: 400,
    body: {
      error: 'invalid_token',
      error_description: 'The access token provided is expired, revoked, malformed, or invalid for other reasons.',
      request_id: randomText(16),
    },
  }),
});
