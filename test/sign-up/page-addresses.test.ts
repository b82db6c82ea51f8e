import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { begin, codeFor, confirm, newAddress, profile, valueOfField, wayOn } from './steps.ts';

describe.each(backends)('the addresses of the sign-up pages on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  const db = () => foyer.stores.database.db;
  const search = () => `${foyer.url}/sandbox/search`;

  it('A visitor with nothing to confirm is redirected to the right page', async () => {
    const visitor = foyer.browser();
    expect(locationOf(await visitor.get('/signup/emailCaptured?redirect=/tos'))).toBe(
      `${foyer.url}/signup?redirect=%2Ftos`,
    );
    expect(locationOf(await visitor.get('/signup/verifiedCode'))).toBe(`${foyer.url}/signup`);
    expect(locationOf(await visitor.get('/verify-code?redirect=/tos'))).toBe(`${foyer.url}/?redirect=%2Ftos`);
    const lost = await visitor.post('/signup/emailCaptured', { code: '123456' });
    expect([lost.status, (await lost.text()).includes('find your sign-up any more')]).toEqual([400, true]);
    const known = await foyer.signedIn(await foyer.addUser());
    for (const path of [
      '/signup',
      '/signup/emailCaptured',
      '/signup/verifiedCode',
      '/signup/addPayment',
      '/verify-code',
    ]) {
      expect([path, locationOf(await known.get(path))]).toEqual([path, search()]);
      expect(locationOf(await known.get(`${path}?redirect=/tos`))).toBe(`${foyer.url}/tos`);
    }
    await begin(foyer, visitor, newAddress());
    for (const path of ['/signup/verifiedCode', '/signup/addPayment']) {
      expect(locationOf(await visitor.get(path))).toBe(`${foyer.url}/signup/emailCaptured`);
    }
  });

  it('An unknown step gets a 404 page of the sign-up', async () => {
    for (const path of [
      '/signup/nothing',
      '/signup/plan',
      '/signup/plan/a%20b',
      '/signup/plan/x/nothing',
      '/signup//',
      '/Signup/nothing',
    ]) {
      const answer = await foyer.browser().get(path);
      const oops = (await answer.text()).includes('Oops – page not found');
      expect([path, answer.status, oops]).toEqual([path, 404, path.startsWith('/signup')]);
    }
  });

  it.each([
    ['/signup/', '/signup'],
    ['/SignUp?email=a%40b.de', '/signup?email=a%40b.de'],
    ['/Settings/?tab=mfa-data', '/settings?tab=mfa-data'],
    ['/plan-purchase-appsumo', '/plan-purchase-appsumo/'],
  ])('The link %s of someone else’s mail leads to %s', async (path, exact) => {
    const answer = await foyer.browser().get(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([308, exact]);
    expect((await foyer.browser().post(path)).status).toBe(404);
  });

  it('Attack: no address of another site comes out of a path that is not exact', async () => {
    for (const path of ['/%2f%2fevil.example/signup/', '/signup/%2e%2e%2f%2fevil.example/', '/signup/@evil.example/']) {
      const { status, headers } = await foyer.browser().get(path);
      expect([path, status < 300 || status > 399 || new URL(headers.get('location') ?? '', foyer.url).origin]).toEqual([
        path,
        true,
      ]);
    }
  });

  it('A plan in the address is stored with the sign-up, and its steps have the plan in their address', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const page = await (await browser.get('/signup/plan/hollyfy_m-99?redirect=/tos')).text();
    expect(page).toContain('action="/signup/plan/hollyfy_m-99?redirect=%2Ftos"');
    const answer = await browser.post('/signup/plan/hollyfy_m-99?redirect=/tos', profile(email));
    expect(locationOf(answer)).toBe(`${foyer.url}/signup/plan/hollyfy_m-99/emailCaptured?redirect=%2Ftos`);
    const row = await db().selectFrom('signUps').select('planKey').where('email', '=', email).executeTakeFirst();
    expect(row).toEqual({ planKey: 'hollyfy_m-99' });
    const code = await codeFor(foyer, email);
    const confirmed = await confirm(browser, code, '/signup/plan/hollyfy_m-99/emailCaptured?redirect=/tos');
    expect(locationOf(confirmed)).toBe(`${foyer.url}/signup/plan/hollyfy_m-99/verifiedCode?redirect=%2Ftos`);
    expect(wayOn(foyer, await (await browser.get(locationOf(confirmed))).text())).toBe(`${foyer.url}/tos`);
  });

  it('The email in the query fills the field', async () => {
    const html = await (await foyer.browser().get('/signup?email=ida%2Bnews%40example.com')).text();
    expect(valueOfField(html, 'email')).toBe('ida+news@example.com');
    expect(html).not.toContain('readOnly=""');
    // The language switch returns to it, and the sign-in page gets it.
    expect(html).toContain('name="redirect" value="/signup?email=ida%2Bnews%40example.com"');
    expect(html).toContain('href="/?email=ida%2Bnews%40example.com"');
  });

  it('What was typed is in no address', async () => {
    const answer = await foyer.browser().submit('/signup', profile('ida@example.com', { given_name: '' }));
    expect(locationOf(answer)).toBe(`${foyer.url}/signup`);
  });
});
