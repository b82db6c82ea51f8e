import { z } from 'zod';
import { doc, type ProtocolCall, problemSchema } from '../http/index.ts';
import { routes } from './routes-table.ts';

const tokenRequest = z
  .object({
    grant_type: z
      .enum([
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ])
      .meta(doc('Kind of grant')),
    client_id: z.string().max(100).optional().meta(doc('Id of the client app, if no header names it', 'shop')),
    client_secret: z.string().max(200).optional().meta(doc('Its secret, if no header has it', 'kD3xq0')),
    code: z.string().max(200).optional().meta(doc('The authorization code', 'SplxlOBeZQQYbYS6WxSbIA')),
    redirect_uri: z
      .string()
      .max(2_000)
      .optional()
      .meta(doc('The address of the authorization request', 'https://shop.example/callback')),
    code_verifier: z
      .string()
      .max(128)
      .optional()
      .meta(doc('PKCE (RFC 7636)', 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')),
    refresh_token: z.string().max(200).optional().meta(doc('The refresh token', 'tGzv3JOkF0XG5Qx2TlKWIA')),
    device_code: z.string().max(200).optional().meta(doc('The device code (RFC 8628)', 'GmRhmhcxhwAzkoEqiMEg')),
    scope: z.string().max(1_000).optional().meta(doc('Scopes, separated by spaces', 'users:read')),
    resource: z
      .string()
      .max(2_000)
      .optional()
      .meta(doc('The API for which the token is (RFC 8707)', 'https://api.example')),
  })
  .meta({ id: 'TokenRequest', description: 'A token request (RFC 6749).' });

const tokens = z
  .object({
    access_token: z.string().meta(doc('The access token', '2YotnFZFEjr1zCsicMWpAA')),
    token_type: z.string().meta(doc('Bearer, or DPoP for a token that is bound to a key', 'Bearer')),
    expires_in: z.int().meta(doc('Seconds for which the access token is valid', 600)),
    scope: z.string().optional().meta(doc('Scopes of the access token', 'openid account')),
    id_token: z.string().optional().meta(doc('Id token of OpenID Connect', 'eyJhbGciOi.eyJzdWIiOi.c2lnbmF0')),
    refresh_token: z.string().optional().meta(doc('The refresh token', 'tGzv3JOkF0XG5Qx2TlKWIA')),
  })
  .meta({ id: 'Tokens', description: 'The answer of the token endpoint.' });

const oauthError = z
  .object({
    error: z.string().meta(doc('Error code (RFC 6749, section 5.2)', 'invalid_grant')),
    error_description: z.string().optional().meta(doc('For developers', 'grant request is invalid')),
  })
  .meta({ id: 'OAuthError', description: 'A refused token request.' });

const storageRequest = z
  .object({
    authorization_code: z
      .string()
      .min(1)
      .max(100)
      .meta(doc('Names the pending authorization request; it is no code for tokens', 'b1f0c2d3e4')),
  })
  .meta({ id: 'StorageRequest', description: 'The pending authorization request.' });

const storageAnswer = z
  .object({
    status: z.int().meta(doc('Always 200', 200)),
    data: z
      .object({ location: z.string().meta(doc('The next address of the browser', '/oauth2/authorize/b1f0c2d3e4')) })
      .meta({ id: 'StorageLocation', description: 'Where the browser continues.' }),
  })
  .meta({ id: 'StorageAnswer', description: 'The session is bound to the request.' });

const problem = { type: 'application/problem+json', schema: problemSchema };
const refusedToken = { type: 'application/json', schema: oauthError };

/** The calls of the OpenID Provider that the document of the JSON API has, too. */
export const protocolCalls: readonly ProtocolCall[] = [
  {
    path: routes.token,
    method: 'post',
    operationId: 'requestTokens',
    tag: 'Apps',
    summary: 'Request tokens',
    description:
      'The token endpoint of OpenID Connect (RFC 6749). Confidential client apps authenticate by HTTP Basic or in the body, public ones name `client_id` alone. Clients of the discovery document need no more than that document.',
    security: ['client', 'public'],
    body: { type: 'application/x-www-form-urlencoded', schema: tokenRequest },
    answer: tokens,
    refusals: {
      400: { description: 'The request or its grant is refused', ...refusedToken },
      401: { description: 'The client app is not authenticated', ...refusedToken },
      default: { description: 'Anything else', ...refusedToken },
    },
  },
  {
    path: '/storage',
    method: 'post',
    operationId: 'continueAuthorization',
    tag: 'Apps',
    summary: 'Continue a pending authorization request',
    description:
      "Binds the session to the authorization request of the same browser. Foyer's own page `/verify-user` makes this call. Tokens in the body are ignored.",
    security: ['session'],
    body: { type: 'application/json', schema: storageRequest },
    answer: storageAnswer,
    refusals: {
      400: { description: 'No pending request is named', ...problem },
      403: { description: 'The request belongs to another browser', ...problem },
      default: { description: 'Anything else', ...problem },
    },
  },
];
