/**
 * A client app that runs on a server: Express, and openid-client for the protocol (authorization code with PKCE, a
 * confidential client). The browser gets a session cookie and never sees a token.
 */
import { randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { errorPage, memberPage, welcomePage } from './pages.mjs';

const {
  ISSUER = 'http://localhost:3000',
  APP_URL = 'http://127.0.0.1:4000',
  CLIENT_ID = 'express-example',
  CLIENT_SECRET,
  SESSION_SECRET = randomBytes(32).toString('base64'),
} = process.env;
if (!CLIENT_SECRET) throw new Error('Set CLIENT_SECRET to what "client add" has printed.');
const redirectUri = new URL('/callback', APP_URL).href;
const secure = APP_URL.startsWith('https:');

/**
 * What a visitor's session holds. `pending` are the sign-ins under way: each tab may have its own.
 * @typedef {{ state: string, nonce: string, verifier: string }} Pending
 * @typedef {{ accessToken: string, idToken: string, refreshToken?: string, expiresAtMs: number, claims: oidc.IDToken }} Tokens
 * @typedef {session.Session & { pending?: Pending[], tokens?: Tokens }} Visit
 */
const visitOf = (/** @type {express.Request} */ req) => /** @type {Visit} */ (req.session);

/** @type {Promise<oidc.Configuration> | undefined} */
let discovered;
/** Foyer's endpoints, read once; again if that has failed. */
function foyer() {
  // A Foyer on this machine speaks plain http; a real one never.
  const execute = ISSUER.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
  const authentication = oidc.ClientSecretBasic(CLIENT_SECRET);
  discovered ??= oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, authentication, { execute }).catch((error) => {
    discovered = undefined;
    throw error;
  });
  return discovered;
}

/**
 * What is kept of an answer of the token endpoint. Each refresh token is good once: the newest replaces the one before.
 * @param {oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers} answer
 * @param {Tokens} [before]
 * @returns {Tokens}
 */
function tokensFrom(answer, before) {
  const claims = answer.claims() ?? before?.claims;
  const idToken = answer.id_token ?? before?.idToken;
  if (!claims || !idToken) throw new Error('there is no id token in the answer');
  const refreshToken = answer.refresh_token ?? before?.refreshToken;
  const expiresAtMs = Date.now() + (answer.expiresIn() ?? 0) * 1000;
  return { accessToken: answer.access_token, idToken, claims, expiresAtMs, ...(refreshToken && { refreshToken }) };
}

const app = express();
app.disable('x-powered-by');
// With https a proxy on this host ends TLS; then the session cookie is for https alone.
if (secure) app.set('trust proxy', 'loopback');
app.use(
  session({
    name: 'express_example',
    secret: SESSION_SECRET,
    resave: false,
    saveUninitialized: false,
    // Lax: the cookie comes along when Foyer sends the browser back, and never with a form of another site.
    cookie: { httpOnly: true, sameSite: 'lax', secure },
    // In production name a store here: this one is in memory, and goes with the process.
  }),
);

/**
 * The sessions at Foyer (`sid`) that are over, as long as a session here could live on with one of them. Keep them where
 * you keep sessions.
 * @type {Set<string>}
 */
const ended = new Set();
/** Logout tokens that have been seen: each is good once. @type {Set<string>} */
const seen = new Set();
/** @type {ReturnType<typeof createRemoteJWKSet> | undefined} */
let keys;

/**
 * OpenID Connect Back-Channel Logout 1.0, section 2.6: a call of Foyer's server, so there is no cookie, and what the token
 * says is all that is known. Answers the session that is over.
 * @param {string} token
 */
async function endedSession(token) {
  const { issuer, jwks_uri } = (await foyer()).serverMetadata();
  keys ??= createRemoteJWKSet(new URL(jwks_uri ?? ''));
  const options = { issuer, audience: CLIENT_ID, typ: 'logout+jwt', algorithms: ['ES256'], maxTokenAge: '2 minutes' };
  const { payload } = await jwtVerify(token, keys, options);
  const { events, sid, jti, nonce } = payload;
  const event = /** @type {Record<string, unknown> | undefined} */ (events)?.[
    'http://schemas.openid.net/event/backchannel-logout'
  ];
  // An id token is no logout token: it has a nonce, and speaks of no event.
  if (typeof event !== 'object' || nonce !== undefined) throw new Error('this is no logout token');
  if (typeof sid !== 'string' || jti === undefined || seen.has(jti)) throw new Error('no session, or seen before');
  seen.add(jti);
  return sid;
}

app.post('/backchannel-logout', express.urlencoded({ extended: false }), async (req, res) => {
  res.set('Cache-Control', 'no-store');
  try {
    ended.add(await endedSession(String(req.body?.logout_token)));
    res.sendStatus(200);
  } catch (error) {
    res.status(400).json({ error: 'invalid_request', error_description: messageOf(error) });
  }
});

/** A user whose session at Foyer has ended is signed out here with the next request. @type {express.RequestHandler} */
const leaveEnded = (req, _res, next) => {
  const visit = visitOf(req);
  if (typeof visit.tokens?.claims.sid === 'string' && ended.has(visit.tokens.claims.sid)) delete visit.tokens;
  next();
};
app.use(leaveEnded);

app.get('/', async (req, res) => {
  const { tokens } = visitOf(req);
  if (!tokens) return res.send(welcomePage());
  try {
    // The claims of the id token were true at the sign-in; userInfo answers what is true now.
    const userInfo = await oidc.fetchUserInfo(await foyer(), tokens.accessToken, tokens.claims.sub);
    return res.send(memberPage({ ...tokens, userInfo }));
  } catch (error) {
    // The access token has expired, or the member has signed out at Foyer: what is left is to refresh or to sign out.
    return res.send(memberPage({ ...tokens, problem: messageOf(error) }));
  }
});

app.get('/sign-in', async (req, res) => {
  const visit = visitOf(req);
  const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
  visit.pending = [...(visit.pending ?? []), { state, nonce, verifier }].slice(-10);
  const url = oidc.buildAuthorizationUrl(await foyer(), {
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  res.redirect(303, url.href);
});

app.get('/callback', async (req, res) => {
  const here = new URL(req.originalUrl, APP_URL);
  const pending = visitOf(req).pending?.find(({ state }) => state === here.searchParams.get('state'));
  if (!pending) throw new Error('no such sign-in has begun in this browser');
  // The library checks state, issuer, audience, expiry and nonce.
  const answer = await oidc.authorizationCodeGrant(await foyer(), here, {
    pkceCodeVerifier: pending.verifier,
    expectedState: pending.state,
    expectedNonce: pending.nonce,
    idTokenExpected: true,
  });
  // A new session id, so that no one who knew the old one is signed in with it.
  await new Promise((resolve, reject) => req.session.regenerate((error) => (error ? reject(error) : resolve(null))));
  visitOf(req).tokens = tokensFrom(answer);
  res.redirect(303, '/');
});

app.post('/refresh', async (req, res) => {
  const visit = visitOf(req);
  if (!visit.tokens?.refreshToken) return res.redirect(303, '/sign-in');
  try {
    visit.tokens = tokensFrom(await oidc.refreshTokenGrant(await foyer(), visit.tokens.refreshToken), visit.tokens);
    return res.redirect(303, '/');
  } catch (error) {
    // The grant is over: through sign-in again, which asks for nothing while the member is signed in at Foyer.
    if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant')
      return res.redirect(303, '/sign-in');
    throw error;
  }
});

app.post('/sign-out', async (req, res) => {
  const { tokens } = visitOf(req);
  await new Promise((resolve, reject) => req.session.destroy((error) => (error ? reject(error) : resolve(null))));
  if (!tokens) return res.redirect(303, '/');
  // Out here, then out at Foyer, which sends the browser back (OpenID Connect RP-Initiated Logout).
  const home = new URL('/', APP_URL).href;
  const url = oidc.buildEndSessionUrl(await foyer(), { id_token_hint: tokens.idToken, post_logout_redirect_uri: home });
  return res.redirect(303, url.href);
});

/** @type {express.ErrorRequestHandler} */
const answerError = (error, _req, res, _next) => {
  console.error(error);
  res.status(400).send(errorPage(messageOf(error)));
};
app.use(answerError);

/** What Foyer has said (RFC 6749, sections 4.1.2.1 and 5.2), or what else went wrong. @param {unknown} error */
function messageOf(error) {
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError)
    return [error.error, error.error_description].filter(Boolean).join(': ');
  return error instanceof Error ? error.message : String(error);
}

app.listen(Number(process.env.PORT ?? (new URL(APP_URL).port || 4000)), '127.0.0.1', (error) => {
  if (error) {
    console.error(
      `The example cannot listen at ${APP_URL}: ${error.message}. Set another PORT and APP_URL, or EXAMPLE_PORT for npm run example.`,
    );
    process.exit(1);
  }
  console.log(`The Express example is ready: ${APP_URL}`);
});
