import express from 'express';
import session from 'express-session';
import passport, { type AuthenticateCallback } from 'passport';
import { PkceStrategy } from '../../examples/passport-app/pkce-strategy.mjs';
import { Browser, locationOf } from '../support/browser.ts';
import { listenOnFreePort, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';

/** A third relying-party library, by other authors than the other two: Passport's `passport-openidconnect`. */
describe('a client app with passport-openidconnect', () => {
  let foyer: TestFoyer;
  let url: string;
  let close: () => void;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    const app = express();
    const { server, port } = await listenOnFreePort(app);
    close = () => server.close();
    url = `http://127.0.0.1:${port}`;
    const { id, secret } = await foyer.addClient({ redirectUris: [`${url}/callback`] });
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
      // What is answered depends on how many parameters the function has.
      (_issuer: string, profile: object, done: (error: null, user: object) => void) => done(null, profile),
    );
    const authenticator = new passport.Passport();
    authenticator.use('foyer', strategy);
    app.use(session({ secret: 'of this test', resave: false, saveUninitialized: false }));
    const answer: (res: express.Response) => AuthenticateCallback = (res) => (error, profile, info) =>
      res.status(profile ? 200 : 403).json({ profile, info, error: error?.message });
    app.use('/', (req, res, next) => authenticator.authenticate('foyer', answer(res))(req, res, next));
  });
  afterAll(async () => {
    close?.();
    await foyer?.close();
  });

  it('signs a member in, with PKCE, state and nonce', async () => {
    const user = await foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
    const app = new Browser(url);
    const begun = locationOf(await app.get('/sign-in'));
    expect(Object.keys(Object.fromEntries(new URL(begun).searchParams)).toSorted()).toEqual([
      ...[
        'client_id',
        'code_challenge',
        'code_challenge_method',
        'nonce',
        'redirect_uri',
        'response_type',
        'scope',
        'state',
      ],
    ]);
    const callback = await signInFor(foyer.browser(), { url: begun }, user);
    const home = await app.get(callback);
    const { profile, error } = (await home.json()) as { profile: object; error?: string };
    expect(error).toBeUndefined();
    expect(profile).toMatchObject({
      id: user.id,
      displayName: 'Ida Moreau',
      name: { familyName: 'Moreau', givenName: 'Ida' },
      emails: [{ value: user.email }],
    });
  });

  it('refuses an answer to another browser’s sign-in', async () => {
    const begun = locationOf(await new Browser(url).get('/sign-in'));
    const callback = await signInFor(foyer.browser(), { url: begun }, await foyer.addUser());
    const victim = new Browser(url);
    await victim.get('/sign-in');
    expect((await victim.get(callback)).status).toBe(403);
  });

  it('is told of a refusal', async () => {
    const app = new Browser(url);
    const begun = new URL(locationOf(await app.get('/sign-in')));
    begun.searchParams.set('prompt', 'none');
    const home = await app.get(locationOf(await foyer.browser().get(begun.href)));
    expect(home.status).toBe(403);
    expect(await home.text()).toContain('authentication is required');
  });
});
