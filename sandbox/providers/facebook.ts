import { createHmac } from 'node:crypto';
import express, { type Express, type Response } from 'express';
import { authenticateClient, authorize, readBearerToken } from './authorize.ts';
import { sendBrokenAnswer } from './broken-answer.ts';
import { createGrants, type Grant, randomText } from './grants.ts';
import { toFullName, toSubject } from './people.ts';
import type { StandIn, StandInSettings } from './settings.ts';

/** developers.facebook.com/docs/graph-api/guides/error-handling */
function refuse(res: Response, { message, code, subcode }: { message: string; code: number; subcode?: number }): void {
  const type = code === 100 && subcode === undefined ? 'GraphMethodException' : 'OAuthException';
  res.status(code === 190 ? 401 : 400).json({
    error: {
      message,
      type,
      code,
      ...(subcode !== undefined && { error_subcode: subcode }),
      fbtrace_id: randomText(11),
    },
  });
}

/** An address only with its own permission, and only if its owner has confirmed it. */
function toProfile({ person, scope }: Grant): Record<string, unknown> {
  const id = toSubject('facebook', person);
  return {
    id,
    name: toFullName(person),
    first_name: person.givenName,
    last_name: person.familyName,
    ...(scope.split(/[ ,]/).includes('email') && person.emailVerified && { email: person.email }),
    picture: {
      data: {
        height: 50,
        is_silhouette: true,
        url: person.picture ?? `https://platform-lookaside.fbsbx.com/${id}`,
        width: 50,
      },
    },
  };
}

const paths = {
  authorization: '/v:version/dialog/oauth',
  token: '/v:version/oauth/access_token',
  profile: ['/me', '/v:version/me'],
};

/**
 * Facebook Login (developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow) and `GET /me` of the Graph
 * API, with "Require App Secret" enabled, as its security page advises.
 */
function mount(app: Express, { clients, accountChooser, now }: StandInSettings): void {
  const client = clients.facebook;
  const grants = createGrants(now);
  app.get(
    paths.authorization,
    authorize({
      kind: 'facebook',
      client,
      accountChooser,
      grants,
      now,
      newCode: () => `AQ${randomText(96)}`,
      errors: {
        refused: { error: 'access_denied', error_reason: 'user_denied', error_description: 'Permissions error' },
        failed: { error_code: '1349195', error_message: 'Something went wrong at Facebook.' },
      },
      // Facebook adds this to remove fragments of the previous page.
      fragment: '#_=_',
    }),
  );
  app.all(paths.token, express.urlencoded({ extended: false }), (req, res) => {
    if (req.method === 'GET') req.body = req.query;
    const { code = '', redirect_uri: redirectUri = '', code_verifier: verifier = '' } = req.body ?? {};
    if (!authenticateClient(req, client)) return refuse(res, { message: 'Error validating client secret.', code: 1 });
    const grant = grants.redeem({ code, clientId: client.id, redirectUri, verifier });
    if (grant === 'redirect') {
      const advice = 'Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request';
      return refuse(res, {
        message: `Error validating verification code. ${advice}`,
        code: 100,
        subcode: 36_008,
      });
    }
    if (grant === 'used') {
      return refuse(res, { message: 'This authorization code has been used.', code: 100, subcode: 36_009 });
    }
    if (grant === 'expired') {
      return refuse(res, { message: 'This authorization code has expired.', code: 100, subcode: 36_007 });
    }
    if (typeof grant === 'string' || grant.broken === 'token-error') {
      return refuse(res, { message: 'Invalid verification code format.', code: 100, subcode: 36_010 });
    }
    if (sendBrokenAnswer(res, 'token', grant.broken)) return;
    res.json({
      access_token: grants.issueToken(`EAA${randomText(96).replace(/[-_]/g, 'Z')}`, grant),
      token_type: 'bearer',
      expires_in: 5_183_944,
    });
  });
  app.get(paths.profile, (req, res) => {
    const token = readBearerToken(req, { inQuery: true });
    const grant = grants.byToken(token);
    if (!grant || grant.broken === 'profile-error')
      return refuse(res, { message: 'Invalid OAuth access token - Cannot parse access token', code: 190 });
    const proof = createHmac('sha256', client.secret).update(token).digest('hex');
    if (req.query.appsecret_proof === undefined)
      return refuse(res, { message: 'API calls from the server require an appsecret_proof argument', code: 100 });
    if (req.query.appsecret_proof !== proof)
      return refuse(res, { message: 'Invalid appsecret_proof provided in the API argument', code: 100 });
    if (sendBrokenAnswer(res, 'profile', grant.broken)) return;
    const profile = toProfile(grant);
    const fields = typeof req.query.fields === 'string' ? req.query.fields.split(',') : ['id', 'name'];
    const names = new Set(['id', ...fields.map((field) => field.replace(/[.(].*$/, ''))]);
    res.json(
      Object.fromEntries([...names].flatMap((name) => (profile[name] === undefined ? [] : [[name, profile[name]]]))),
    );
  });
}

export const facebook: StandIn = { paths: Object.values(paths).flat(), mount };
