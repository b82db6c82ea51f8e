/**
 * A client app with Passport: Express, and the Passport strategy of openid-client (authorization code with PKCE, a
 * confidential client).
 */
import { randomBytes } from 'node:crypto';
import express from 'express';
import session from 'express-session';
import * as oidc from 'openid-client';
import { Strategy } from 'openid-client/passport';
import passport from 'passport';

const {
  ISSUER = 'http://localhost:3000',
  APP_URL = 'http://127.0.0.1:4200',
  CLIENT_ID = 'passport-example',
  CLIENT_SECRET,
  SESSION_SECRET = randomBytes(32).toString('base64'),
} = process.env;
if (!CLIENT_SECRET) throw new Error('Set CLIENT_SECRET to what "client add" has printed.');
const secure = APP_URL.startsWith('https:');

// A Foyer on this machine speaks plain http; a real one never.
const foyer = await oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.ClientSecretBasic(CLIENT_SECRET), {
  execute: ISSUER.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
});

/**
 * What this app knows of a member, kept in their session.
 * @typedef {{ sub: string, name: string, email?: string, idToken: string }} Member
 */

/** By itself the strategy relies on PKCE; state and nonce cost nothing, and it checks whatever was sent. */
class FoyerStrategy extends Strategy {
  /** @override @type {Strategy['authorizationRequestParams']} */
  authorizationRequestParams(req, options) {
    const params = new URLSearchParams(super.authorizationRequestParams(req, options));
    params.set('state', oidc.randomState());
    params.set('nonce', oidc.randomNonce());
    return params;
  }
}

passport.use(
  'foyer',
  new FoyerStrategy(
    { config: foyer, scope: 'openid profile email', callbackURL: new URL('/callback', APP_URL).href },
    async (tokens, done) => {
      try {
        const claims = tokens.claims();
        if (!claims || !tokens.id_token) throw new Error('there is no id token in the answer');
        // Here an app of your own looks its record up, by `sub`: an address may change.
        const { sub, name = sub, email } = await oidc.fetchUserInfo(foyer, tokens.access_token, claims.sub);
        done(null, { sub, name, ...(email && { email }), idToken: tokens.id_token });
      } catch (error) {
        done(error);
      }
    },
  ),
);
passport.serializeUser((member, done) => done(null, member));
passport.deserializeUser((/** @type {Member} */ member, done) => done(null, member));

const app = express();
app.disable('x-powered-by');
if (secure) app.set('trust proxy', 'loopback');
app.use(
  session({
    name: 'passport_example',
    secret: SESSION_SECRET,
    resave: false,
    saveUninitialized: false,
    // Lax: the cookie comes along when Foyer sends the browser back, and never with a form of another site.
    cookie: { httpOnly: true, sameSite: 'lax', secure },
    // In production name a store here: this one is in memory, and goes with the process.
  }),
);
app.use(passport.session());

const entities = /** @type {const} */ ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' });
const escaped = (/** @type {string} */ text) =>
  text.replace(/[&<>"']/g, (sign) => entities[/** @type {keyof typeof entities} */ (sign)]);
const page = (/** @type {string} */ title, /** @type {string} */ body) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><title>${escaped(title)}</title><h1>${escaped(title)}</h1>${body}</html>`;
const signInLink = '<p><a href="/sign-in">Sign in</a></p>';

app.get('/', (req, res) => {
  const member = /** @type {Member | undefined} */ (req.user);
  if (!member) return res.send(page('Passport example', `<p>No one is signed in.</p>${signInLink}`));
  const button = '<form method="post" action="/sign-out"><button>Sign out</button></form>';
  return res.send(page(`Hello, ${member.name}`, `<p>${escaped(member.email ?? member.sub)}</p>${button}`));
});

app.get('/sign-in', passport.authenticate('foyer'));
// Passport gives the session a new id, so that no one who knew the old one is signed in with it.
app.get('/callback', passport.authenticate('foyer', { successRedirect: '/', failWithError: true }));

app.post('/sign-out', (req, res, next) => {
  const member = /** @type {Member | undefined} */ (req.user);
  req.logout((error) => {
    if (error) return next(error);
    if (!member) return res.redirect(303, '/');
    // Out here, then out at Foyer, which sends the browser back (OpenID Connect RP-Initiated Logout).
    const home = new URL('/', APP_URL).href;
    const url = oidc.buildEndSessionUrl(foyer, { id_token_hint: member.idToken, post_logout_redirect_uri: home });
    return res.redirect(303, url.href);
  });
});

/** @type {express.ErrorRequestHandler} */
const answerError = (error, _req, res, _next) => {
  console.error(error);
  const text = error instanceof oidc.AuthorizationResponseError ? error.error : String(error.message ?? error);
  res.status(400).send(page('That did not work', `<p role="alert">${escaped(text)}</p>${signInLink}`));
};
app.use(answerError);

app.listen(Number(process.env.PORT ?? (new URL(APP_URL).port || 4200)), '127.0.0.1', (error) => {
  if (error) {
    console.error(
      `The example cannot listen at ${APP_URL}: ${error.message}. Set another PORT and APP_URL, or EXAMPLE_PORT for npm run example.`,
    );
    process.exit(1);
  }
  console.log(`The Passport example is ready: ${APP_URL}`);
});
