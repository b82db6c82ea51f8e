import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('terms of service on the way to a client app, on $name', (backend) => {
  let foyer: TestFoyer;
  let browser: Browser;
  let client: RelyingParty;
  let begun: Begun;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    client = await relyingParty(foyer, await foyer.addClient());
  });
  beforeEach(async () => {
    browser = foyer.browser();
    begun = await client.begin();
  });
  afterAll(() => foyer?.close());

  const version = () => String(foyer.deps.terms.number);
  /** Signs in for the request. @returns the address of the terms page */
  async function signIn(email: string): Promise<URL> {
    const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    return new URL(locationOf(await browser.post(`/sign-in${search}`, { username: email, password })));
  }
  const decide = (terms: URL, decision: string) =>
    browser.post(`${terms.pathname}${terms.search}`, { decision, version: version() });

  it('A sign-in leads over /tos and, after the terms are accepted, over /verify-user to a code', async () => {
    const user = await foyer.addUser({ acceptedTosVersion: null });
    const terms = await signIn(user.email);
    expect(terms.pathname).toBe('/tos');
    const page = await (await browser.get(terms.href)).text();
    expect(page).toContain('value="accept"');
    const verifyUser = locationOf(await decide(terms, 'accept'));
    expect(new URL(verifyUser).pathname).toBe('/verify-user');
    expect((await browser.get(verifyUser)).status).toBe(200);
    const callback = locationOf(await browser.get(await store(browser, verifyUser)));
    expect((await client.redeem(callback, begun)).claims()?.sub).toBe(user.id);
  });

  it('A user who declines the terms gets no code, and can still accept them on the same request', async () => {
    const user = await foyer.addUser({ acceptedTosVersion: null });
    const terms = await signIn(user.email);
    expect((await decide(terms, 'decline')).status).toBe(200);
    const silent = await client.begin({ prompt: 'none' });
    const told = new URL(locationOf(await browser.get(silent.url))).searchParams;
    expect(told.get('error')).toBe('interaction_required');
    const callback = locationOf(await browser.get(await store(browser, locationOf(await decide(terms, 'accept')))));
    expect((await client.redeem(callback, begun)).claims()?.sub).toBe(user.id);
  });

  it('No step of the request bypasses the terms; each leads back to /tos', async () => {
    const user = await foyer.addUser({ acceptedTosVersion: 0 });
    const terms = await signIn(user.email);
    const verifyUser = new URL(terms.searchParams.get('redirect') ?? '');
    const id = verifyUser.searchParams.get('authorization_code') ?? '';
    const stored = await browser.postJson('/storage', { authorization_code: id });
    const { data } = (await stored.json()) as { data: { location: string } };
    expect(new URL(data.location, foyer.url).pathname).toBe('/tos');
    expect(new URL(locationOf(await browser.get(`/${verifyUser.search}`))).pathname).toBe('/tos');
    const resumed = new URL(locationOf(await browser.get(`/oauth2/authorize/${id}`)));
    expect(resumed.pathname).toBe('/');
    expect(new URL(locationOf(await browser.get(resumed.href))).pathname).toBe('/tos');
  });
});
