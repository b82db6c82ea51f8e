import { importPartnerDeals } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { codeFor, confirm, member, newAddress, profile, valueOfField } from './steps.ts';

describe.each(backends)('a sign-up from the partner on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  const db = () => foyer.stores.database.db;

  it('A sign-up from the partner has a fixed address and claims the deal', async () => {
    const email = `ida+deal${newAddress()}`;
    await foyer.stores.database.transaction((trx) =>
      importPartnerDeals(trx, [{ email: toNormalisedEmail(email), tier: 2 }], 1),
    );
    const browser = foyer.browser();
    // A plus sign in a query means a space.
    const query = `email=${email}&from=appsumo`;
    const html = await (await browser.get(`/signup?${query}`)).text();
    expect(valueOfField(html, 'email')).toBe(email);
    expect(html).toMatch(/<input[^>]*readOnly=""[^>]*id="field-email"/);
    expect(html).toContain('name="from" value="appsumo"');
    // The address stays fixed after a mistake and a change of language.
    const again = await (await browser.post('/signup', profile(email, { from: 'appsumo', password: '' }))).text();
    expect(again).toMatch(/<input[^>]*readOnly=""[^>]*id="field-email"/);
    expect(again).toContain(`value="/signup?email=${encodeURIComponent(email)}&amp;from=appsumo"`);
    await browser.post('/signup', profile(email, { from: 'appsumo' }));
    await confirm(browser, await codeFor(foyer, email));
    const user = await member(foyer, email);
    expect(user?.source).toBe('appsumo');
    const deal = await db()
      .selectFrom('partnerDeals')
      .selectAll()
      .where('email', '=', toNormalisedEmail(email))
      .executeTakeFirst();
    expect(deal).toMatchObject({ userId: user?.id, usedAt: expect.any(Number) });
    // A deal can be claimed once.
    expect(locationOf(await foyer.browser().get(`/signup?${query}`))).toBe(`${foyer.url}/signup`);
  });

  it('Attack: a sign-up from the partner without a deal is an ordinary sign-up', async () => {
    const browser = foyer.browser();
    expect(locationOf(await browser.get('/signup?email=unknown@example.com&from=appsumo'))).toBe(`${foyer.url}/signup`);
    // The page says it once, and its address does not.
    const sentence = 'We found no partner deal for this email address.';
    const said = async () => (await (await browser.get('/signup')).text()).includes(sentence);
    expect([await said(), await said()]).toEqual([true, false]);
    expect(locationOf(await browser.get('/signup?from=appsumo&redirect=/tos'))).toBe(
      `${foyer.url}/signup?redirect=%2Ftos`,
    );
    const email = newAddress();
    const forged = await browser.post('/signup', profile(email, { from: 'appsumo' }));
    expect(locationOf(forged)).toBe(`${foyer.url}/signup`);
    expect(await foyer.mails(email)).toEqual([]);
  });
});
