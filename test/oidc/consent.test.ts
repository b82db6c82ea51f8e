import * as oidc from 'openid-client';
import { type Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { type Begun, type RelyingParty, refreshOf, relyingParty, store, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpUser } from './user-and-client.ts';

describe.each(backends)('consent on $name', (backend) => {
  const context = setUpUser(backend);

  let browser: Browser;
  let client: RelyingParty;

  beforeEach(async () => {
    browser = await context.foyer.signedIn(context.user);
    const registered = await context.foyer.addClient({ thirdParty: true, idTokenClaims: true });
    client = await relyingParty(context.foyer, registered, 'openid email');
  });

  /** The first redirect of a started request. */
  const lead = async (begun: Begun) => new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
  const idOf = (url: URL) => url.searchParams.get('authorization_code') ?? '';

  /** Answers the consent page. @returns the resume address of the provider */
  async function decide(consent: URL, decision: 'allow' | 'deny'): Promise<string> {
    expect(consent.pathname).toBe('/consent');
    const answer = await browser.post('/consent', { authorization_code: idOf(consent), decision });
    expect(answer.status).toBe(200);
    return refreshOf(await answer.text());
  }

  async function allow(begun: Begun): Promise<string> {
    return locationOf(await browser.get(await decide(await lead(begun), 'allow')));
  }

  it('The consent page names the client and the user and has buttons to allow and to deny', async () => {
    const page = await (await browser.get((await lead(await client.begin())).href)).text();
    expect(page).toContain('127.0.0.1:9');
    expect(page).toContain(context.user.email);
    expect(page).toMatch(/name="decision" value="allow"|value="allow"[^>]* name="decision"/);
    expect(page).toMatch(/name="decision" value="deny"|value="deny"[^>]* name="decision"/);
  });

  it('The consent page links the sign-in of another account, which returns to the same question', async () => {
    const consent = await lead(await client.begin());
    const page = await (await browser.get(consent.href)).text();
    const [, href = ''] = /<a href="([^"]*)">Use another account<\/a>/.exec(page) ?? [];
    const address = href.replaceAll('&amp;', '&');
    const form = await browser.get(address);
    expect([form.status, (await form.text()).includes('name="password"')]).toEqual([200, true]);
    const other = await context.foyer.addUser();
    const answer = await browser.post(`/sign-in${address.slice(1)}`, { username: other.email, password });
    const verifyUser = new URL(locationOf(answer));
    expect(verifyUser.pathname).toBe('/verify-user');
    const question = await browser.get(await store(browser, verifyUser.href));
    const text = await question.text();
    expect([question.status, text.includes(other.email), text.includes(context.user.email)]).toEqual([
      200,
      true,
      false,
    ]);
    expect(text).toContain('value="allow"');
  });

  it('The consent page links the registered pages of the app in a tab that cannot reach it, and none otherwise', async () => {
    const without = await (await browser.get((await lead(await client.begin())).href)).text();
    expect(without).not.toContain('consent-pages');
    const registered = await context.foyer.addClient({
      thirdParty: true,
      clientUri: 'https://shop.example/about',
      policyUri: 'https://shop.example/privacy',
      tosUri: 'https://shop.example/terms',
    });
    const shop = await relyingParty(context.foyer, registered, 'openid email');
    const page = await (await browser.get((await lead(await shop.begin())).href)).text();
    const links = [
      ...page.matchAll(/<a href="(https:\/\/shop\.example\/\w+)" target="_blank" rel="noopener noreferrer">/g),
    ];
    expect(links.map(([, href]) => href)).toEqual([
      'https://shop.example/about',
      'https://shop.example/privacy',
      'https://shop.example/terms',
    ]);
  });

  it('A user who allows gives the client the requested scopes, and later requests of the session ask no consent', async () => {
    const begun = await client.begin();
    const tokens = await client.redeem(await allow(begun), begun);
    expect(tokens.scope).toBe('openid email');
    expect(tokens.claims()).toMatchObject({ sub: context.user.id, email: context.user.email });
    expect(tokens.claims()).not.toHaveProperty('name');
    const again = await client.begin();
    const silent = await client.redeem((await lead(again)).href, again);
    expect(silent.claims()?.sub).toBe(context.user.id);
    const none = await client.begin({ prompt: 'none' });
    expect((await lead(none)).searchParams.has('code')).toBe(true);
  });

  it('A user who denies sends the client access_denied with state and issuer, and no code', async () => {
    const begun = await client.begin();
    const back = new URL(locationOf(await browser.get(await decide(await lead(begun), 'deny'))));
    expect(back.origin + back.pathname).toBe(client.redirectUri);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'access_denied',
      state: begun.state,
      iss: context.foyer.url,
    });
    expect(back.searchParams.has('code')).toBe(false);
    await expect(client.redeem(back.href, begun)).rejects.toMatchObject({ error: 'access_denied' });
    // The decision is not remembered: the next request asks again.
    expect((await lead(await client.begin())).pathname).toBe('/consent');
  });

  it('A consent page without an answer gives no code', async () => {
    const begun = await client.begin();
    const consent = await lead(begun);
    await browser.get(consent.href);
    const resumed = await browser.get(`/oauth2/authorize/${idOf(consent)}`);
    expect(new URL(locationOf(resumed)).pathname).toBe('/consent');
  });

  it('prompt=none gets consent_required while consent is missing', async () => {
    const begun = await client.begin({ prompt: 'none' });
    const told = (await lead(begun)).searchParams;
    expect(told.get('error')).toBe('consent_required');
    expect(told.get('state')).toBe(begun.state);
  });

  it('prompt=consent asks for consent again although it was given', async () => {
    const first = await client.begin();
    await client.redeem(await allow(first), first);
    const begun = await client.begin({ prompt: 'consent' });
    const tokens = await client.redeem(await allow(begun), begun);
    expect(tokens.claims()?.sub).toBe(context.user.id);
  });

  it('prompt=consent asks for the marketplace’s own client too, which otherwise needs no consent', async () => {
    const own = await relyingParty(context.foyer, await context.foyer.addClient());
    expect((await lead(await own.begin())).searchParams.has('code')).toBe(true);
    const begun = await own.begin({ prompt: 'consent' });
    expect((await own.redeem(await allow(begun), begun)).claims()?.sub).toBe(context.user.id);
  });

  it('A scope that the consent does not cover asks for consent again', async () => {
    const first = await client.begin();
    await client.redeem(await allow(first), first);
    const more = await client.begin({ scope: 'openid email profile' });
    const tokens = await client.redeem(await allow(more), more);
    expect(tokens.scope?.split(' ').toSorted()).toEqual(['email', 'openid', 'profile']);
  });

  it('A consent belongs to the user, so another browser and a new sign-in ask for none', async () => {
    const begun = await client.begin();
    await client.redeem(await allow(begun), begun);
    browser = await context.foyer.signedIn(context.user);
    const second = await client.begin();
    expect((await client.redeem((await lead(second)).href, second)).claims()?.sub).toBe(context.user.id);
    await browser.post('/logout');
    await browser.post('/sign-in', { username: context.user.email, password });
    const third = await client.begin({ prompt: 'none' });
    expect((await client.redeem((await lead(third)).href, third)).claims()?.sub).toBe(context.user.id);
  });

  it('Consent is asked for from another user, for more scopes, and with prompt=consent', async () => {
    const begun = await client.begin();
    await client.redeem(await allow(begun), begun);
    const elsewhere = await context.foyer.signedIn(context.user);
    const at = async (where: Browser, parameters: Record<string, string> = {}) =>
      new URL(locationOf(await where.get((await client.begin(parameters)).url, { from: 'cross-site' }))).pathname;
    expect(await at(elsewhere, { scope: 'openid email profile' })).toBe('/consent');
    expect(await at(elsewhere, { prompt: 'consent' })).toBe('/consent');
    expect(await at(await context.foyer.signedIn(await context.foyer.addUser()))).toBe('/consent');
  });

  it('A consent stays when the same user signs in again in the same browser', async () => {
    const begun = await client.begin();
    await client.redeem(await allow(begun), begun);
    await browser.post('/sign-in', { username: context.user.email, password });
    expect((await lead(await client.begin())).searchParams.has('code')).toBe(true);
  });

  it('A refresh token needs offline_access with prompt=consent', async () => {
    const begun = await client.begin();
    expect((await client.redeem(await allow(begun), begun)).refresh_token).toBeUndefined();
    const registered = await context.foyer.addClient({ thirdParty: true, scopes: ['openid', 'offline_access'] });
    const offline = await relyingParty(context.foyer, registered, 'openid offline_access');
    const asked = await offline.begin({ prompt: 'consent' });
    const tokens = await offline.redeem(await allow(asked), asked);
    expect((await oidc.refreshTokenGrant(offline.config, tokens.refresh_token ?? '')).access_token).toBeTruthy();
  });

  it.each(['', 'maybe', 'allow deny'])(
    'The decision "%s" gets 400, and the consent page can still be answered',
    async (d) => {
      const begun = await client.begin();
      const consent = await lead(begun);
      expect((await browser.post('/consent', { authorization_code: idOf(consent), decision: d })).status).toBe(400);
      const callback = locationOf(await browser.get(await decide(consent, 'allow')));
      expect((await client.redeem(callback, begun)).claims()?.sub).toBe(context.user.id);
    },
  );

  it('A request that still waits for the sign-in does not accept a consent', async () => {
    browser = context.foyer.browser();
    const landing = await lead(await client.begin());
    await browser.post('/sign-in', { username: context.user.email, password });
    const answer = await browser.post('/consent', { authorization_code: idOf(landing), decision: 'allow' });
    expect(answer.status).toBe(400);
  });

  it('Attack: the consent of one user is not used for another who signs in before the request resumes', async () => {
    const begun = await client.begin();
    const resume = await decide(await lead(begun), 'allow');
    const other = await context.foyer.addUser();
    await browser.post('/sign-in', { username: other.email, password });
    expect((await browser.get(resume)).status).toBe(400);
    expect((await lead(await client.begin())).pathname).toBe('/consent');
  });

  it('Attack: a consent page that one user saw is not answered by another, who is asked on a new request', async () => {
    const consent = await lead(await client.begin());
    const other = await context.foyer.addUser();
    await browser.post('/sign-in', { username: other.email, password });
    const answer = await browser.post('/consent', { authorization_code: idOf(consent), decision: 'allow' });
    // The second user gets a separate consent page.
    const again = locationOf(answer);
    expect(new URL(again).pathname).toBe('/begin-again');
    const asked = await browser.get(refreshOf(await (await browser.get(again)).text()));
    const page = await (await browser.get(locationOf(asked))).text();
    expect([new URL(locationOf(asked)).pathname, page.includes(other.email)]).toEqual(['/consent', true]);
    const silent = await browser.get((await client.begin({ prompt: 'none' })).url);
    expect(locationOf(silent)).toContain('error=consent_required');
  });

  it('Consent comes after the sign-in in a fresh browser, on the same request', async () => {
    const tokens = await tokensFor(client, context.foyer.browser(), context.user);
    expect(tokens.claims()?.sub).toBe(context.user.id);
  });

  it('A scope that is not registered is refused before the user is asked for consent', async () => {
    const begun = await client.begin({ scope: 'openid offline_access', prompt: 'consent' });
    const told = (await lead(begun)).searchParams;
    expect(told.get('error')).toBe('invalid_scope');
  });
});
