import express, { type Express } from 'express';
import { authenticateClient, authorize, readBearerToken } from './authorize.ts';
import { sendBrokenAnswer } from './broken-answer.ts';
import { createGrants, randomText } from './grants.ts';
import { toFullName, toSubject } from './people.ts';
import type { StandIn, StandInSettings } from './settings.ts';

const paths = { authorization: '/ap/oa', token: '/auth/o2/token', profile: '/user/profile' };

/**
 * Login with Amazon (developer.amazon.com/docs/login-with-amazon/authorization-code-grant.html, …/obtain-customer-profile.html):
 * the paths of www.amazon.com and api.amazon.com.
 */
function mount(app: Express, { clients, accountChooser, now }: StandInSettings): void {
  const client = clients.amazon;
  const grants = createGrants(now);
  app.get(
    paths.authorization,
    authorize({
      kind: 'amazon',
      client,
      accountChooser,
      grants,
      now,
      newCode: () => `AN${randomText(15)}`,
      more: ({ scope }) => ({ scope }),
      errors: {
        refused: { error: 'access_denied', error_description: 'Access not permitted.' },
        failed: { error: 'server_error', error_description: 'The server encountered an unexpected error.' },
      },
    }),
  );
  app.post(paths.token, express.urlencoded({ extended: false }), (req, res) => {
    const { code = '', redirect_uri: redirectUri = '', code_verifier: verifier = '', grant_type } = req.body ?? {};
    res.set('x-amzn-requestid', randomText(16));
    if (!authenticateClient(req, client)) {
      res.status(401).json({ error: 'invalid_client', error_description: 'Client authentication failed' });
      return;
    }
    if (grant_type !== 'authorization_code') {
      const why = 'The authorization grant type is not supported by the authorization server';
      res.status(400).json({ error: 'unsupported_grant_type', error_description: why });
      return;
    }
    const grant = grants.redeem({ code, clientId: client.id, redirectUri, verifier });
    if (typeof grant === 'string' || grant.broken === 'token-error') {
      const why = `The request has an invalid grant parameter : ${grant === 'redirect' ? 'redirect_uri' : 'code'}`;
      res.status(400).json({ error: 'invalid_grant', error_description: why, request_id: randomText(16) });
      return;
    }
    if (sendBrokenAnswer(res, 'token', grant.broken)) return;
    res.json({
      access_token: grants.issueToken(`Atza|${randomText(96)}`, grant),
      refresh_token: `Atzr|${randomText(96)}`,
      token_type: 'bearer',
      expires_in: 3_600,
    });
  });
  app.get(paths.profile, (req, res) => {
    const grant = grants.byToken(req.get('x-amz-access-token') ?? readBearerToken(req, { inQuery: true }));
    if (!grant || grant.broken === 'profile-error') {
      const why = 'The access token provided is expired, revoked, malformed, or invalid for other reasons.';
      res.status(400).json({ error: 'invalid_token', error_description: why, request_id: randomText(16) });
      return;
    }
    if (sendBrokenAnswer(res, 'profile', grant.broken)) return;
    const { person, scope } = grant;
    const isRequested = (name: string) => scope.split(' ').includes(name);
    res.json({
      user_id: toSubject('amazon', person),
      ...(isRequested('profile') && {
        name: toFullName(person),
        ...(person.email !== undefined && { email: person.email }),
      }),
    });
  });
}

export const amazon: StandIn = { paths: Object.values(paths).flat(), mount };
