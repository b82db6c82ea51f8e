import express, { type Express, type Response } from 'express';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { createElement } from 'react';
import { IdentityProviderPage } from '../views/providers/identity-provider-page.tsx';
import { authenticateClient, authorize, readBearerToken } from './authorize.ts';
import { sendBrokenAnswer } from './broken-answer.ts';
import { createGrants, type Grant, randomText } from './grants.ts';
import { sendPage } from './pages.ts';
import { oidcPath, type Person, toFullName, toSubject } from './people.ts';
import type { StandInSettings } from './settings.ts';
import { standInTraits } from './traits.ts';

/** OpenID Connect Core 1.0, section 5.4: the claims of the scope. */
function toClaims({ person, scope }: Grant): Record<string, unknown> {
  const isRequested = (name: string) => scope.split(' ').includes(name);
  return {
    ...(isRequested('profile') && {
      name: toFullName(person),
      given_name: person.givenName,
      family_name: person.familyName,
      ...(person.picture !== undefined && { picture: person.picture }),
    }),
    ...(isRequested('email') &&
      person.email !== undefined && { email: person.email, email_verified: person.emailVerified }),
  };
}

/** A person who is signed in here, and has gone to an app from here. */
interface OidcSession {
  sid: string;
  person: Person;
  /** The app's address for logout tokens. */
  logoutUrl: string;
}

export interface OidcIdentityProvider {
  /** The signed-in people, the newest last. */
  sessions(): OidcSession[];
  /** The claims of a correct logout token. */
  logoutClaims(session: OidcSession): JWTPayload;
  /** Signs a person out here, and tells the app. @returns the status of the app's answer */
  signOut(session: OidcSession): Promise<number>;
}

const maxSessions = 200;

const toIssuer = (origin: string) => `${origin}${oidcPath}`;

/** OpenID Connect Discovery 1.0, section 3. */
const discoveryDocument = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/jwks`,
  scopes_supported: ['openid', 'profile', 'email'],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  code_challenge_methods_supported: ['S256'],
  claims_supported: ['sub', 'sid', 'name', 'given_name', 'family_name', 'picture', 'email', 'email_verified'],
  authorization_response_iss_parameter_supported: true,
  backchannel_logout_supported: true,
  backchannel_logout_session_supported: true,
});

/** Section 3.1.3.7: every property that a client checks can be wrong. */
async function createIdToken(
  { origin, clients, now, keys }: StandInSettings,
  grant: Grant,
  sid: string,
): Promise<string> {
  const { person, broken, nonce } = grant;
  const nowSeconds = Math.floor(now() / 1_000);
  const expired = broken === 'id-token-expired';
  const claims = {
    iss: broken === 'id-token-wrong-issuer' ? 'https://somebody-else.example' : toIssuer(origin),
    aud: broken === 'id-token-wrong-audience' ? 'another-app' : clients.oidc.id,
    sub: toSubject('oidc', person),
    sid,
    iat: nowSeconds - (expired ? 7_200 : 0),
    exp: nowSeconds + (expired ? -3_600 : 3_600),
    auth_time: Math.floor(grant.atMs / 1_000),
    ...(nonce !== undefined && { nonce: broken === 'id-token-wrong-nonce' ? randomText() : nonce }),
    ...toClaims(grant),
  };
  const changed = await grant.idToken?.(claims, keys);
  if (typeof changed === 'string') return changed;
  if (broken === 'id-token-unsigned') return new UnsecuredJWT(claims).encode();
  const key = broken === 'id-token-other-key' ? await keys.otherKey() : keys.privateKey;
  return new SignJWT(changed ?? claims).setProtectedHeader({ alg: 'RS256', kid: keys.kid }).sign(key);
}

/** OpenID Connect Back-Channel Logout 1.0, section 2.4. */
const logoutClaims = ({ origin, clients, now }: StandInSettings, { sid, person }: OidcSession): JWTPayload => ({
  iss: toIssuer(origin),
  aud: clients.oidc.id,
  sub: toSubject('oidc', person),
  sid,
  iat: Math.floor(now() / 1_000),
  exp: Math.floor(now() / 1_000) + 120,
  jti: randomText(16),
  events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
});

/** Section 2.5. */
async function sendLogoutToken(settings: StandInSettings, session: OidcSession): Promise<number> {
  const { keys } = settings;
  const token = await new SignJWT(logoutClaims(settings, session))
    .setProtectedHeader({ alg: 'RS256', kid: keys.kid, typ: 'logout+jwt' })
    .sign(keys.privateKey);
  const body = new URLSearchParams({ logout_token: token });
  return (await fetch(session.logoutUrl, { method: 'POST', body })).status;
}

function sendStartPage(res: Response, sessions: Iterable<OidcSession>, notice?: string): void {
  const provider = standInTraits.oidc.name;
  const body = createElement(IdentityProviderPage, {
    provider,
    path: oidcPath,
    sessions: [...sessions].map(({ sid, person }) => ({ index: sid, name: toFullName(person), email: person.email })),
    canBegin: false,
    ...(notice !== undefined && { notice }),
  });
  sendPage(res, 200, { title: notice === undefined ? provider : 'Signed out', kind: 'oidc', body });
}

/** Its sessions, and a start page on which a person signs out here and at the app. */
function signOuts(
  app: Express,
  settings: StandInSettings,
): { open: Map<string, OidcSession>; provider: OidcIdentityProvider } {
  const sessions = new Map<string, OidcSession>();
  const signOut = (session: OidcSession) => {
    sessions.delete(session.sid);
    return sendLogoutToken(settings, session);
  };
  app.get(oidcPath, (_req, res) => sendStartPage(res, sessions.values()));
  app.post(`${oidcPath}/sign-out/:sid`, async (req, res) => {
    const session = sessions.get(req.params.sid);
    if (!session) return res.redirect(303, oidcPath);
    const done = (await signOut(session)) === 200;
    const notice = done
      ? 'You are signed out, here and at the app.'
      : 'You are signed out here; the app has not said that it did the same.';
    sendStartPage(res, [], notice);
  });
  const provider = {
    sessions: () => [...sessions.values()],
    logoutClaims: (session: OidcSession) => logoutClaims(settings, session),
    signOut,
  };
  return { open: sessions, provider };
}

/** An OpenID provider (OpenID Connect Core 1.0, Discovery 1.0, Back-Channel Logout 1.0, RFC 7636, RFC 9207). */
export function oidc(app: Express, settings: StandInSettings): OidcIdentityProvider {
  const { origin, clients, accountChooser, now, keys } = settings;
  const issuer = toIssuer(origin);
  const client = clients.oidc;
  const grants = createGrants(now);
  const { open: sessions, provider } = signOuts(app, settings);

  app.get(`${oidcPath}/.well-known/openid-configuration`, (_req, res) => {
    res.json(discoveryDocument(issuer));
  });
  app.get(`${oidcPath}/jwks`, (_req, res) => {
    res.json({ keys: [keys.publicJwk] });
  });
  app.get(
    `${oidcPath}/authorize`,
    authorize({
      kind: 'oidc',
      client,
      accountChooser,
      grants,
      now,
      newCode: () => randomText(),
      more: () => ({ iss: issuer }),
      errors: {
        refused: { error: 'access_denied', error_description: 'The person refused.', iss: issuer },
        failed: { error: 'server_error', error_description: 'Something went wrong at Acme.', iss: issuer },
      },
    }),
  );

  app.post(`${oidcPath}/token`, express.urlencoded({ extended: false }), async (req, res) => {
    const { code = '', redirect_uri: redirectUri = '', code_verifier: verifier = '', grant_type } = req.body ?? {};
    res.set('Cache-Control', 'no-store');
    if (!authenticateClient(req, client)) {
      res.set('WWW-Authenticate', 'Basic').status(401).json({ error: 'invalid_client' });
      return;
    }
    if (grant_type !== 'authorization_code') {
      res.status(400).json({ error: 'unsupported_grant_type' });
      return;
    }
    const grant = grants.redeem({ code, clientId: client.id, redirectUri, verifier });
    if (typeof grant === 'string' || grant.broken === 'token-error') {
      res.status(400).json({
        error: 'invalid_grant',
        error_description: `The code is not valid: ${typeof grant === 'string' ? grant : 'no reason'}`,
      });
      return;
    }
    if (sendBrokenAnswer(res, 'token', grant.broken)) return;
    const sid = randomText(16);
    if (sessions.size >= maxSessions) sessions.delete(sessions.keys().next().value ?? '');
    // Foyer has both at the same place.
    sessions.set(sid, { sid, person: grant.person, logoutUrl: redirectUri.replace(/\/callback$/, '/logout') });
    res.json({
      access_token: grants.issueToken(randomText(), grant),
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: grant.scope,
      ...(grant.broken !== 'id-token-missing' && { id_token: await createIdToken(settings, grant, sid) }),
    });
  });
  app.all(`${oidcPath}/userinfo`, (req, res) => {
    const grant = grants.byToken(readBearerToken(req));
    if (!grant || grant.broken === 'profile-error') {
      res.set('WWW-Authenticate', 'Bearer error="invalid_token"').status(401).json({ error: 'invalid_token' });
      return;
    }
    if (sendBrokenAnswer(res, 'profile', grant.broken)) return;
    const sub = grant.broken === 'other-subject' ? 'somebody-else' : toSubject('oidc', grant.person);
    res.json({ sub, ...toClaims(grant) });
  });
  return provider;
}
