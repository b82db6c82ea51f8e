import type { Browser } from '../support/browser.ts';
import { federationLog } from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { sidOf, toldApp } from '../support/told-app.ts';
import { type Header, type OidcLogouts, startOidcLogouts } from './oidc-logout-steps.ts';
import { isSignedIn } from './saml-steps.ts';
import { comeBy } from './steps.ts';

/** OpenID Connect Back-Channel Logout 1.0 and Front-Channel Logout 1.0, with Foyer as the client. */
describe('signing out at an OpenID provider', () => {
  let logouts: OidcLogouts;
  beforeAll(async () => {
    logouts = await startOidcLogouts();
  });
  afterAll(() => logouts?.close());

  it('Signing out at the provider ends the session that came from there, no other, and tells the client apps', async () => {
    const app = await toldApp(logouts.foyer);
    const here = await logouts.visit();
    const elsewhere = await logouts.visit(here);
    const stranger = await logouts.visit();
    const sid = sidOf(await app.tokens(here.browser, here.user));
    expect(await logouts.providers.oidc.signOut(here.session)).toBe(200);
    expect(await logouts.stillIn(here, elsewhere, stranger)).toEqual([false, true, true]);
    expect(await app.heard()).toEqual([sid]);
    await app.close();
  });

  it('The start page of the stand-in lists who is signed in there, and its button also signs out here', async () => {
    const one = await logouts.visit();
    const page = await (await sendRequest(`${logouts.providers.url}/acme-oidc`)).text();
    expect(page).toContain(one.who.email);
    const action = `${logouts.providers.url}/acme-oidc/sign-out/${one.session.sid}`;
    expect(page).toContain(new URL(action).pathname);
    const done = await (await sendRequest(action, { method: 'POST' })).text();
    expect(done).toContain('You are signed out, here and at the app.');
    expect(await logouts.stillIn(one)).toEqual([false]);
  });

  it('A valid logout token is answered with 200 and no-store, and the log has it without the token', async () => {
    const one = await logouts.visit();
    const token = await logouts.sign(logouts.claimsOf(one));
    const answer = await logouts.send({ logout_token: token });
    expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([200, 'no-store', '']);
    expect(federationLog(logouts.foyer).at(-1)).toMatchObject({
      provider: 'acme-oidc',
      outcome: 'signed-out-there',
      count: 1,
    });
    expect(logouts.foyer.logged()).not.toContain(token);
    expect(logouts.foyer.logged()).not.toContain(one.session.sid);
  });

  it('A logout token with sub alone ends every session of that person, and one with sid alone that session', async () => {
    const [one, stranger] = [await logouts.visit(), await logouts.visit()];
    const two = await logouts.visit(one);
    const three = await logouts.visit(one);
    expect(await logouts.tell(logouts.claimsOf(one, { sub: undefined }))).toBe(200);
    expect(await logouts.stillIn(one, two, three)).toEqual([false, true, true]);
    expect(await logouts.tell(logouts.claimsOf(one, { sid: undefined }))).toBe(200);
    expect(await logouts.stillIn(two, three, stranger)).toEqual([false, false, true]);
  });

  it.each([
    ['logout+jwt', { typ: 'logout+jwt' }],
    ['application/logout+jwt', { typ: 'application/logout+jwt' }],
    ['JWT', { typ: 'JWT' }],
    ['none at all', { typ: undefined }],
  ] satisfies [string, Header][])('A logout token of the type %s is accepted', async (_type, header) => {
    const one = await logouts.visit();
    expect(await logouts.tell(logouts.claimsOf(one), header)).toBe(200);
    expect(await logouts.stillIn(one)).toEqual([false]);
  });

  it('A logout token also ends a session whose id has changed by a new authentication', async () => {
    const one = await logouts.visit();
    await comeBy(logouts.providers, one.browser, 'oidc', one.who, { search: '?forceAuth=1' });
    const session = logouts.providers.oidc.sessions().at(-1) ?? one.session;
    expect(await logouts.providers.oidc.signOut(session)).toBe(200);
    expect(await logouts.stillIn(one)).toEqual([false]);
  });

  it('A logout token for an unknown sid or person is answered with 200 and ends nothing', async () => {
    const one = await logouts.visit();
    for (const change of [{ sid: 'unknown' }, { sub: 'nobody', sid: undefined }, { sub: undefined, sid: 'x' }])
      expect([change, await logouts.tell(logouts.claimsOf(one, change))]).toEqual([change, 200]);
    expect(await logouts.stillIn(one)).toEqual([true]);
  });

  it('Attack: a token with the sid of one member and the sub of another ends neither session', async () => {
    const [one, other] = [await logouts.visit(), await logouts.visit()];
    const { sub } = logouts.claimsOf(other);
    expect(await logouts.tell(logouts.claimsOf(one, { sub }))).toBe(200);
    expect(await logouts.stillIn(one, other)).toEqual([true, true]);
  });

  describe('front-channel logout', () => {
    const front = (browser: Browser, query: Record<string, string>) =>
      browser.get(`/federation/acme-oidc/logout?${new URLSearchParams(query)}`, { from: 'cross-site' });
    const issuer = () => `${logouts.providers.url}/acme-oidc`;

    it('A request with iss and sid of this browser’s session signs this browser out', async () => {
      const one = await logouts.visit();
      const other = await logouts.visit(one);
      const answer = await front(one.browser, { iss: issuer(), sid: one.session.sid });
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(await logouts.stillIn(one, other)).toEqual([false, true]);
    });

    it.each([
      ['another sid', () => ({ iss: issuer(), sid: 'guessed' })],
      ['another issuer', (sid: string) => ({ iss: 'https://else.example', sid })],
    ])('Attack: a link with %s ends no session, and its answer tells nothing', async (_what, query) => {
      const one = await logouts.visit();
      const right = await front(logouts.foyer.browser(), { iss: issuer(), sid: one.session.sid });
      const answer = await front(one.browser, query(one.session.sid));
      expect([answer.status, await answer.text()]).toEqual([right.status, await right.text()]);
      expect(await logouts.stillIn(one)).toEqual([true]);
    });

    it.each([[{}], [{ sid: 'x' }], [{ iss: 'x' }], [{ iss: 'x', sid: '' }]])(
      'Attack: a link without iss and sid (%j) is refused and signs nobody out',
      async (query) => {
        const one = await logouts.visit();
        expect((await front(one.browser, query as Record<string, string>)).status).toBe(400);
        expect(await logouts.stillIn(one)).toEqual([true]);
      },
    );

    it('Attack: the iss and sid of one member do not sign another browser out', async () => {
      const [one, other] = [await logouts.visit(), await logouts.visit()];
      const byPassword = await logouts.foyer.signedIn(await logouts.foyer.addUser());
      for (const browser of [other.browser, byPassword])
        expect((await front(browser, { iss: issuer(), sid: one.session.sid })).status).toBe(200);
      expect([...(await logouts.stillIn(one, other)), await isSignedIn(byPassword)]).toEqual([true, true, true]);
    });
  });
});
