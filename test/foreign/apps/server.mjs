/** What all client apps on Node share: their settings, a session, and the addresses that the tests ask for. */
import express from 'express';
import session from 'express-session';

const { ISSUER, APP_URL, CLIENT_ID, CLIENT_SECRET } = process.env;
export const issuer = ISSUER ?? '';
export const appUrl = APP_URL ?? '';
export const clientId = CLIENT_ID ?? '';
export const clientSecret = CLIENT_SECRET ?? '';
export const redirectUri = `${appUrl}/callback`;
export const scope = 'openid profile email';

export function createApp() {
  const app = express();
  app.use(session({ secret: 'of this test', resave: false, saveUninitialized: false }));
  return app;
}

/** @param {express.Express} app */
export function start(app) {
  app.get('/', (_req, res) => res.send('<!doctype html><h1>home</h1>'));
  app.use((error, _req, res, _next) => {
    console.error(error);
    res.status(500).json({ error: String(error), cause: String(error?.cause ?? '') });
  });
  app.listen(Number(new URL(appUrl).port), '127.0.0.1');
}

/** Discovery, for libraries that have none. */
export async function discover() {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
  return answer.json();
}

/** UserInfo, for libraries that have no call of it. */
export async function fetchUserInfo(endpoint, accessToken) {
  const answer = await fetch(endpoint, { headers: { authorization: `Bearer ${accessToken}` } });
  if (!answer.ok) throw new Error(`userinfo answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

/** The address of the end of the session, for libraries that have no call of it (OpenID Connect RP-Initiated Logout). */
export const toSignOut = (endpoint, idToken) =>
  `${endpoint}?${new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: `${appUrl}/` })}`;

/**
 * An app around a library without a server of its own.
 * - `begin()` returns `url` and what the session `keeps` for the answer;
 * - `redeem(callback, kept)` returns `claims` (of the validated id token, if the library validates), `userinfo`,
 *   `idToken` and `refreshToken`;
 * - `refresh(refreshToken)` returns `userinfo` by the new access token;
 * - `signOut(idToken)` returns the address to go to.
 */
export function serve({ begin, redeem, refresh, signOut }) {
  const app = createApp();
  app.get('/sign-in', async (req, res) => {
    const { url, keeps } = await begin();
    req.session.keeps = keeps;
    res.redirect(String(url));
  });
  app.get('/callback', async (req, res) => {
    req.session.member = await redeem(new URL(req.originalUrl, appUrl), req.session.keeps);
    res.redirect('/me');
  });
  app.get('/me', (req, res) => {
    const { claims, userinfo } = req.session.member ?? {};
    res.status(userinfo ? 200 : 401).json({ claims, userinfo });
  });
  app.get('/refresh', async (req, res) => res.json({ userinfo: await refresh(req.session.member.refreshToken) }));
  app.get('/sign-out', async (req, res) => {
    const url = await signOut(req.session.member.idToken);
    req.session.destroy(() => res.redirect(String(url)));
  });
  start(app);
}
