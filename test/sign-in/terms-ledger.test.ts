import { findUser, listTermsAcceptances } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('acceptance of the terms on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {}, { terms: { number: 2, label: '2.0.0' } });
  });
  afterAll(() => foyer?.close());

  const newMember = () => foyer.addUser({ acceptedTosVersion: 1 });
  const accept = { decision: 'accept', version: '2' };

  it('An acceptance is recorded with user, version, text, language, time, address, browser and client', async () => {
    const client = await foyer.addClient();
    const begun = await (await relyingParty(foyer, client)).begin();
    const user = await newMember();
    const browser = foyer.browser();
    browser.headers['accept-language'] = 'de';
    browser.headers['user-agent'] = 'A browser';
    const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const terms = locationOf(await browser.post(`/sign-in${search}`, { username: user.email, password }));
    expect(await listTermsAcceptances(foyer.deps.database.db, user.id)).toEqual([]);
    const before = Date.now();
    expect((await browser.post(new URL(terms).pathname + new URL(terms).search, accept)).status).toBe(303);
    const [entry, ...others] = await listTermsAcceptances(foyer.deps.database.db, user.id);
    expect(others).toEqual([]);
    expect(entry).toEqual({
      version: 2,
      label: '2.0.0',
      lang: 'de',
      textHash: foyer.deps.legal.terms('de').hash,
      ip: expect.stringMatching(/127\.0\.0\.1/),
      userAgent: 'A browser',
      clientId: client.id,
      acceptedAt: expect.any(Number),
    });
    expect(entry?.acceptedAt).toBeGreaterThanOrEqual(before);
    expect((await findUser(foyer.deps.database.db, user.id))?.acceptedTosVersion).toBe(2);
  });

  it('Attack: neither an unknown version nor the terms of another user can be accepted', async () => {
    const user = await newMember();
    const browser = await foyer.signedIn(user);
    expect((await browser.post('/tos', { ...accept, version: '99' })).status).toBe(409);
    const stranger = await foyer.browser().post('/tos', { ...accept, userId: user.id });
    expect(new URL(locationOf(stranger)).pathname).toBe('/');
    expect(await listTermsAcceptances(foyer.deps.database.db, user.id)).toEqual([]);
  });

  it('Without a return address the page confirms that the terms are accepted', async () => {
    const browser = await foyer.signedIn(await newMember());
    expect(await (await browser.get('/tos?accepted=1')).text()).not.toContain('You’ve accepted');
    const said = locationOf(await browser.post('/tos', accept));
    const page = await (await browser.get(said)).text();
    expect(page).toContain('You’ve accepted the Terms of Service.');
    expect(page).not.toContain('value="accept"');
    expect(await (await foyer.browser().get(said)).text()).not.toContain('You’ve accepted');
  });

  it('The return address must be a page of this site', async () => {
    const browser = await foyer.signedIn(await newMember());
    const home = await browser.post(`/tos?redirect=${encodeURIComponent('/sandbox/parts')}`, accept);
    expect(locationOf(home)).toBe(`${foyer.url}/sandbox/parts`);
    const evil = await browser.post(`/tos?redirect=${encodeURIComponent('https://evil.example/')}`, accept);
    expect(new URL(locationOf(evil)).origin).toBe(foyer.url);
  });

  it('An unavailable database gives 503 with a message, and the user can accept again', async () => {
    const away = await startFoyer(backend, {}, { terms: { number: 2, label: '2.0.0' } });
    try {
      const browser = await away.signedIn(await away.addUser({ acceptedTosVersion: 1 }));
      const { StoreUnavailable } = await import('../../server/store/index.ts');
      const { transaction } = away.deps.database;
      away.deps.database.transaction = () => Promise.reject(new StoreUnavailable('the database is away'));
      const answer = await browser.post('/tos', accept);
      away.deps.database.transaction = transaction;
      expect(answer.status).toBe(503);
      expect(await answer.text()).toContain('An error has occurred. Please try again.');
      expect((await browser.post('/tos', accept)).status).toBe(303);
    } finally {
      await away.close();
    }
  });
});
