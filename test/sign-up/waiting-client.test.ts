import { listTermsAcceptances } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { begin, codeFor, confirm, newAddress, newPassword, profile, wayOn } from './steps.ts';

describe.each(backends)('a sign-up for a waiting client on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  const db = () => foyer.stores.database.db;

  it('A waiting client gets its code after the sign-up and is recorded with the accepted terms', async () => {
    const app = await relyingParty(foyer, await foyer.addClient({ name: 'Orchard', idTokenClaims: true }));
    const begun = await app.begin({ prompt: 'login' });
    const email = newAddress();
    const browser = foyer.browser();
    const landing = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const page = await (await browser.get(landing.href)).text();
    const link = /href="(\/signup\?[^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(await (await browser.get(link)).text()).toContain('Create an account to continue to Orchard.');
    const captured = locationOf(await browser.post(link, profile(email)));
    const confirmed = await confirm(browser, await codeFor(foyer, email), captured);
    const verified = await (await browser.get(locationOf(confirmed))).text();
    const resumed = await browser.get(await store(browser, wayOn(foyer, verified)));
    const tokens = await app.redeem(locationOf(resumed), begun);
    expect(tokens.claims()).toMatchObject({ email, email_verified: true, given_name: 'Ida', amr: ['pwd'] });
    expect(await listTermsAcceptances(db(), toUserId(tokens.claims()?.sub ?? ''))).toMatchObject([
      { clientId: app.id },
    ]);
  });

  it('A waiting client is kept when the account is confirmed at an address without its request', async () => {
    const app = await relyingParty(foyer, await foyer.addClient());
    const begun = await app.begin();
    const email = newAddress();
    const browser = foyer.browser();
    const { search: errand } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const code = await begin(foyer, browser, email, errand);
    const confirmed = locationOf(await confirm(browser, code));
    expect(new URL(confirmed).searchParams.get('authorization_code')).toBe(
      new URLSearchParams(errand).get('authorization_code'),
    );
    // Another device does not have the request, so the sign-up ends without it.
    const other = newAddress();
    const there = foyer.browser();
    const { search: second } = new URL(locationOf(await there.get((await app.begin()).url, { from: 'cross-site' })));
    await begin(foyer, there, other, second);
    const here = foyer.browser();
    await here.post('/sign-in', { username: other, password: newPassword });
    const answer = await confirm(here, await codeFor(foyer, other), '/verify-code');
    expect(locationOf(answer)).toBe(`${foyer.url}/signup/verifiedCode`);
  });

  it('The sign-up page of a request that no longer exists links to no address with its parameters', async () => {
    const answer = await foyer.browser().get('/signup?authorization_code=unknown&state=lost');
    expect(answer.status).toBe(400);
    const page = await answer.text();
    expect(page).toContain('action="/signup"');
    expect(page).not.toContain('state=lost');
  });
});
