import express, { type Express } from 'express';
import { SignJWT } from 'jose';
import { authenticateClient, authorize, readBearerToken } from './authorize.ts';
import { sendBrokenAnswer } from './broken-answer.ts';
import { createGrants, type Grant, randomText } from './grants.ts';
import { toFullName, toSubject } from './people.ts';
import type { StandIn, StandInSettings } from './settings.ts';

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

const paths = {
  authorization: '/o/oauth2/v2/auth',
  token: ['/token', '/oauth2/v4/token'],
  profile: ['/oauth2/v3/userinfo', '/v1/userinfo'],
};

/**
 * Google's sign-in (developers.google.com/identity/protocols/oauth2/web-server, …/openid-connect): the paths that it has on
 * accounts.google.com, oauth2.googleapis.com, www.googleapis.com and openidconnect.googleapis.com.
 */
function mount(app: Express, settings: StandInSettings): void {
  const { clients, accountChooser, now } = settings;
  const client = clients.google;
  const grants = createGrants(now);
  app.get(
    paths.authorization,
    authorize({
      kind: 'google',
      client,
      accountChooser,
      grants,
      now,
      newCode: () => `4/0A${randomText(48)}`,
      more: ({ scope }) => ({ scope, authuser: '0', prompt: 'consent' }),
      errors: {
        refused: { error: 'access_denied' },
        failed: { error: 'server_error', error_description: 'Something went wrong at Google.' },
      },
    }),
  );
  app.post(paths.token, express.urlencoded({ extended: false }), async (req, res) => {
    const { code = '', redirect_uri: redirectUri = '', code_verifier: verifier = '', grant_type } = req.body ?? {};
    if (!authenticateClient(req, client)) {
      res.status(401).json({ error: 'invalid_client', error_description: 'Unauthorized' });
      return;
    }
    if (grant_type !== 'authorization_code') {
      res.status(400).json({ error: 'unsupported_grant_type', error_description: `Invalid grant_type: ${grant_type}` });
      return;
    }
    const grant = grants.redeem({ code, clientId: client.id, redirectUri, verifier });
    if (grant === 'redirect') {
      res.status(400).json({ error: 'redirect_uri_mismatch', error_description: 'Bad Request' });
      return;
    }
    if (typeof grant === 'string' || grant.broken === 'token-error') {
      const why =
        grant === 'verifier' ? 'Invalid code verifier.' : grant === 'unknown' ? 'Malformed auth code.' : 'Bad Request';
      res.status(400).json({ error: 'invalid_grant', error_description: why });
      return;
    }
    if (sendBrokenAnswer(res, 'token', grant.broken)) return;
    const idToken = await createIdToken(settings, grant);
    res.set('Cache-Control', 'no-cache, no-store, max-age=0, must-revalidate').json({
      access_token: grants.issueToken(`ya29.${randomText(64)}`, grant),
      expires_in: 3_599,
      scope: grant.scope,
      token_type: 'Bearer',
      id_token: idToken,
    });
  });
  app.get(paths.profile, (req, res) => {
    const grant = grants.byToken(readBearerToken(req, { inQuery: true }));
    if (!grant || grant.broken === 'profile-error') {
      res.status(401).json({ error: 'invalid_request', error_description: 'Invalid Credentials' });
      return;
    }
    if (sendBrokenAnswer(res, 'profile', grant.broken)) return;
    res.json(toUserinfo(grant));
  });
}

export const google: StandIn = { paths: Object.values(paths).flat(), mount };
