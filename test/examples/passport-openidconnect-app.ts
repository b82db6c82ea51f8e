import express from 'express';
import session from 'express-session';
import passport, { type AuthenticateCallback } from 'passport';
import { PkceStrategy } from '../../examples/passport-app/pkce-strategy.mjs';
import { listenOnFreePort, type TestFoyer } from '../support/foyer.ts';

export interface PassportApp {
  url: string;
  close(): Promise<void>;
}

/** What the library tells of who has signed in. */
export type Told = { profile?: object; info?: unknown; error?: string };

/**
 * A client app of a third library, by other authors than the other two: `passport-openidconnect`. `/sign-in` begins,
 * `/callback` answers what the library says of the member, as JSON, and `/sign-out` leads out of both.
 */
export async function startPassportApp(foyer: TestFoyer): Promise<PassportApp> {
  const app = express();
  const { server, port } = await listenOnFreePort(app);
  const url = `http://127.0.0.1:${port}`;
  const home = `${url}/`;
  const { id, secret } = await foyer.addClient({ redirectUris: [`${url}/callback`], logoutUris: [home] });
  const strategy = new PkceStrategy(
    {
      issuer: foyer.url,
      authorizationURL: `${foyer.url}/oauth2/authorize`,
      tokenURL: `${foyer.url}/oauth2/token`,
      userInfoURL: `${foyer.url}/oauth2/userInfo`,
      clientID: id,
      clientSecret: secret,
      callbackURL: `${url}/callback`,
      scope: 'profile email',
      nonce: true,
      skipUserProfile: false,
    },
    // What it is told depends on how many parameters it has.
    (_issuer: string, profile: object, _context: object, idToken: string, done: (error: null, user: object) => void) =>
      done(null, { profile, idToken }),
  );
  const authenticator = new passport.Passport();
  authenticator.use('foyer', strategy);
  const visitOf = (req: express.Request) => req.session as session.Session & { idToken?: string };
  const answer =
    (req: express.Request, res: express.Response): AuthenticateCallback =>
    (error, user, info) => {
      const { profile, idToken } = (user || {}) as { profile?: object; idToken?: string };
      if (idToken !== undefined) visitOf(req).idToken = idToken;
      const told: Told = { profile, info, error: error?.message };
      res.status(profile ? 200 : 403).json(told);
    };
  app.use(session({ secret: 'of this test', resave: false, saveUninitialized: false }));
  app.get(['/sign-in', '/callback'], (req, res, next) =>
    authenticator.authenticate('foyer', answer(req, res))(req, res, next),
  );
  app.get('/sign-out', (req, res) => {
    const asked = { id_token_hint: visitOf(req).idToken ?? '', post_logout_redirect_uri: home };
    res.redirect(303, `${foyer.url}/oauth2/logout?${new URLSearchParams(asked)}`);
  });
  app.get('/', (_req, res) => {
    res.send('<!doctype html><link rel="icon" href="data:,"><h1>home</h1>');
  });
  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
