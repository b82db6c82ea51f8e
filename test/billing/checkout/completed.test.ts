import { toPlanId } from '../../support/ids.ts';
import { openShop, type Shop, wordsOf } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

/** The specification's suffixes, each with the handle of its plan; of those that are sold no more any will do. */
const completions: [string, string][] = [
  ['m-free', 'free-monthly'],
  ['y-free', 'free-yearly'],
  ['m-99', 'starter-monthly'],
  ['y-900', 'starter-yearly'],
  ['m-499', 'growth-monthly'],
  ['y-5000', 'growth-yearly'],
  ['m-899', 'scale-monthly'],
  ['y-8000', 'scale-yearly'],
  ['m-30', 'of-old'],
  ['m-150', 'of-old'],
  ['y-300', 'of-old'],
  ['y-1500', 'of-old'],
  ['Appsumo-Tier-1', 'hollyfy_tier1'],
  ['Appsumo-Tier-2', 'hollyfy_tier2'],
  ['Appsumo-Tier-3', 'hollyfy_tier3'],
  ['Appsumo-Tier-2', 'tier2'],
  ['Appsumo-Tier-3', 'tier3'],
];

describe('the completion pages', () => {
  it('Every plan code has a completion page, with or without its handle, that redirects a signed-in user after two seconds', async () => {
    const user = await shop.foyer.addUser({ planId: toPlanId('10') });
    const browser = await shop.foyer.signedIn(user);
    for (const [code, handle] of completions) {
      for (const path of [`/signup/completed/${code}`, `/signup/completed/plan/${handle}/${code}`]) {
        const answer = await browser.get(path);
        const html = await answer.text();
        expect([path, answer.status]).toEqual([path, 200]);
        expect(wordsOf(html)).toContain('Just a moment...');
        expect(html).toMatch(/data-redirect="2000"><a [^>]*href="\/sandbox\/search"/);
        // It claims no plan but the member's own.
        expect([path, wordsOf(html).includes('Your plan is')]).toEqual([path, code === 'm-99']);
        // Nor a success.
        expect([path, html.includes('class="success-tick"')]).toEqual([path, code === 'm-99']);
      }
    }
  });

  it('A completion page offers a signed-out user a sign-in link and does not redirect', async () => {
    const html = await (await shop.foyer.browser().get('/signup/completed/m-99?client_id=web')).text();
    expect(wordsOf(html)).toContain('Please sign in');
    expect(html).toContain('href="/?client_id=web">Sign in');
    expect(html).not.toContain('data-redirect');
  });

  it('A completion page for a code or handle that no plan has does not exist', async () => {
    const browser = shop.foyer.browser();
    for (const path of [
      'm-100',
      'constructor',
      'M-99',
      'm-99/',
      'plan/m-99',
      'plan/monthly/m-99',
      'plan/tier1/Appsumo-Tier-2',
      'plan/unknown/m-99',
      'plan/growth-monthly/m-99',
      'plan/hollyfy_tier1/Appsumo-Tier-2',
      `plan/${'x'.repeat(101)}/m-30`,
    ]) {
      expect([path, (await browser.get(`/signup/completed/${path}`)).status]).toEqual([path, 404]);
    }
    expect((await browser.post('/signup/completed/m-99')).status).toBe(405);
  });

  it('A completion page ignores a redirect address in its query', async () => {
    const browser = await shop.foyer.signedIn(await shop.foyer.addUser({ planId: toPlanId('10') }));
    const html = await (await browser.get('/signup/completed/m-99?redirect=https://evil.example/')).text();
    expect(html).toMatch(/data-redirect="2000"><a [^>]*href="\/sandbox\/search"/);
  });
});
