import type { Browser } from '../support/browser.ts';
import { federationLog } from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { sidOf, toldApp } from '../support/told-app.ts';
import { type Header, type OidcLogouts, startOidcLogouts } from './oidc-logout-steps.ts';
import { isSignedIn } from './saml-steps.ts';
import { comeBy } from './steps.ts';

/** OpenID Connect Back-Channel Logout 1.0 and Front-Channel Logout 1.0, with Foyer as the client. */
describe('signing out at an OpenID provider', () => {
  let room: OidcLogouts;
  beforeAll(async () => {
    room = await startOidcLogouts();
  });
  afterAll(() => room?.close());

  it('Signing out at the provider ends the session that came from there, no other, and tells the client apps', async () => {
    const app = await toldApp(room.foyer);
    const here = await room.visit();
    const elsewhere = await room.visit(here);
    const stranger = await room.visit();
    const sid = sidOf(await app.tokens(here.browser, here.user));
    expect(await room.providers.oidc.signOut(here.session)).toBe(200);
    expect(await room.stillIn(here, elsewhere, stranger)).toEqual([false, true, true]);
    expect(await app.heard()).toEqual([sid]);
    await app.close();
  });

  it('The start page of the stand-in lists who is signed in there, and its button also signs out here', async () => {
    const one = await room.visit();
    const page = await (await sendRequest(`${room.providers.url}/acme-oidc`)).text();
    expect(page).toContain(one.who.email);
    const action = `${room.providers.url}/acme-oidc/sign-out/${one.session.sid}`;
    expect(page).toContain(new URL(action).pathname);
    const done = await (await sendRequest(action, { method: 'POST' })).text();
    expect(done).toContain('You are signed out, here and at the app.');
    expect(await room.stillIn(one)).toEqual([false]);
  });

  it('A valid logout token is answered with 200 and no-store, and the log has it without the token', async () => {
    const one = await room.visit();
    const token = await room.sign(room.claimsOf(one));
    const answer = await room.send({ logout_token: token });
    expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([200, 'no-store', '']);
    expect(federationLog(room.foyer).at(-1)).toMatchObject({
      provider: 'acme-oidc',
      outcome: 'signed-out-there',
      count: 1,
    });
    expect(room.foyer.logged()).not.toContain(token);
    expect(room.foyer.logged()).not.toContain(one.session.sid);
  });

  it('A logout token with sub alone ends every session of that person, and one with sid alone that session', async () => {
    const [one, stranger] = [await room.visit(), await room.visit()];
    const two = await room.visit(one);
    const three = await room.visit(one);
    expect(await room.tell(room.claimsOf(one, { sub: undefined }))).toBe(200);
    expect(await room.stillIn(one, two, three)).toEqual([false, true, true]);
    expect(await room.tell(room.claimsOf(one, { sid: undefined }))).toBe(200);
    expect(await room.stillIn(two, three, stranger)).toEqual([false, false, true]);
  });

  it.each([
    ['logout+jwt', { typ: 'logout+jwt' }],
    ['application/logout+jwt', { typ: 'application/logout+jwt' }],
    ['JWT', { typ: 'JWT' }],
    ['none at all', { typ: undefined }],
  ] satisfies [string, Header][])('A logout token of the type %s is accepted', async (_type, header) => {
    const one = await room.visit();
    expect(await room.tell(room.claimsOf(one), header)).toBe(200);
    expect(await room.stillIn(one)).toEqual([false]);
  });

  it('A logout token also ends a session whose id has changed by a new authentication', async () => {
    const one = await room.visit();
    await comeBy(room.providers, one.browser, 'oidc', one.who, { search: '?forceAuth=1' });
    const session = room.providers.oidc.sessions().at(-1) ?? one.session;
    expect(await room.providers.oidc.signOut(session)).toBe(200);
    expect(await room.stillIn(one)).toEqual([false]);
  });

  it('A logout token for an unknown sid or person is answered with 200 and ends nothing', async () => {
    const one = await room.visit();
    for (const change of [{ sid: 'unknown' }, { sub: 'nobody', sid: undefined }, { sub: undefined, sid: 'x' }])
      expect([change, await room.tell(room.claimsOf(one, change))]).toEqual([change, 200]);
    expect(await room.stillIn(one)).toEqual([true]);
  });

  it('Attack: a token with the sid of one member and the sub of another ends neither session', async () => {
    const [one, other] = [await room.visit(), await room.visit()];
    const { sub } = room.claimsOf(other);
    expect(await room.tell(room.claimsOf(one, { sub }))).toBe(200);
    expect(await room.stillIn(one, other)).toEqual([true, true]);
  });

  describe('front-channel logout', () => {
    const front = (browser: Browser, query: Record<string, string>) =>
      browser.get(`/federation/acme-oidc/logout?${new URLSearchParams(query)}`, { from: 'cross-site' });
    const issuer = () => `${room.providers.url}/acme-oidc`;

    it('A request with iss and sid of this browser’s session signs this browser out', async () => {
      const one = await room.visit();
      const other = await room.visit(one);
      const answer = await front(one.browser, { iss: issuer(), sid: one.session.sid });
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(await room.stillIn(one, other)).toEqual([false, true]);
    });

    it.each([
      ['another sid', () => ({ iss: issuer(), sid: 'guessed' })],
      ['another issuer', (sid: string) => ({ iss: 'https://else.example', sid })],
    ])('Attack: a link with %s ends no session, and its answer tells nothing', async (_what, query) => {
      const one = await room.visit();
      const right = await front(room.foyer.browser(), { iss: issuer(), sid: one.session.sid });
      const answer = await front(one.browser, query(one.session.sid));
      expect([answer.status, await answer.text()]).toEqual([right.status, await right.text()]);
      expect(await room.stillIn(one)).toEqual([true]);
    });

    it.each([[{}], [{ sid: 'x' }], [{ iss: 'x' }], [{ iss: 'x', sid: '' }]])(
      'Attack: a link without iss and sid (%j) is refused and signs nobody out',
      async (query) => {
        const one = await room.visit();
        expect((await front(one.browser, query as Record<string, string>)).status).toBe(400);
        expect(await room.stillIn(one)).toEqual([true]);
      },
    );

    it('Attack: the iss and sid of one member do not sign another browser out', async () => {
      const [one, other] = [await room.visit(), await room.visit()];
      const byPassword = await room.foyer.signedIn(await room.foyer.addUser());
      for (const browser of [other.browser, byPassword])
        expect((await front(browser, { iss: issuer(), sid: one.session.sid })).status).toBe(200);
      expect([...(await room.stillIn(one, other)), await isSignedIn(byPassword)]).toEqual([true, true, true]);
    });
  });
});
