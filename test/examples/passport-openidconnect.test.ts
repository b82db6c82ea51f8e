import { Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { type PassportApp, startPassportApp, type Told } from './passport-openidconnect-app.ts';

/** A third relying-party library, by other authors than the other two: Passport's `passport-openidconnect`. */
describe('a client app with passport-openidconnect', () => {
  let foyer: TestFoyer;
  let passport: PassportApp;
  let url: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    passport = await startPassportApp(foyer);
    ({ url } = passport);
  });
  afterAll(async () => {
    await passport?.close();
    await foyer?.close();
  });

  it('The client signs a user in with PKCE, state and nonce', async () => {
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
    const { profile, error } = (await home.json()) as Told;
    expect(error).toBeUndefined();
    expect(profile).toMatchObject({
      id: user.id,
      displayName: 'Ida Moreau',
      name: { familyName: 'Moreau', givenName: 'Ida' },
      emails: [{ value: user.email }],
    });
  });

  it('Attack: the client refuses an answer to another browser’s sign-in', async () => {
    const begun = locationOf(await new Browser(url).get('/sign-in'));
    const callback = await signInFor(foyer.browser(), { url: begun }, await foyer.addUser());
    const victim = new Browser(url);
    await victim.get('/sign-in');
    expect((await victim.get(callback)).status).toBe(403);
  });

  it('The client gets the error of a refused request', async () => {
    const app = new Browser(url);
    const begun = new URL(locationOf(await app.get('/sign-in')));
    begun.searchParams.set('prompt', 'none');
    const home = await app.get(locationOf(await foyer.browser().get(begun.href)));
    expect(home.status).toBe(403);
    expect(await home.text()).toContain('authentication is required');
  });
});
