import type { Browser } from '../../support/browser.ts';
import { toPlanId } from '../../support/ids.ts';
import { openShop, press, type Shop, wordsOf } from './shop.ts';

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

describe('the receipt on a completion page', () => {
  const pageAt = async (browser: Browser, path: string) => wordsOf(await (await browser.get(path)).text());

  /** A member who has just bought a plan. */
  async function buyer(planId: string) {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const browser = await shop.foyer.signedIn(user);
    expect((await press(browser, `/plan-purchase/${planId}`)).status).toBe(303);
    return { user, browser };
  }

  it('After a purchase it names the plan, the payment, the card and the next payment, with links to the order', async () => {
    const { browser } = await buyer('13');
    const html = await (await browser.get('/signup/completed/y-5000')).text();
    const day = String.raw`\w+ \d+, \d{4}`;
    expect(wordsOf(html)).toMatch(
      new RegExp(
        `Just a moment\\.\\.\\. Payment received\\. Your plan is Growth, annual\\. Taking you there… Paid \\$5,000\\.00 Date ${day} Paid with Visa ••••.4242 Renews on ${day} at \\$5,000\\.00\\.`,
      ),
    );
    expect(html).toMatch(/<p data-redirect="2000"><a class="button primary block"/);
    expect(html).toContain('href="/settings/membership"');
    expect(html).toContain('href="/settings/membership#invoices"');
  });

  it('It names the payment and the next one as the membership page does', async () => {
    const { user, browser } = await buyer('12');
    const [invoice] = await shop.paidInvoices();
    const membership = await pageAt(browser, '/settings/membership');
    const [, date, amount] = /Renews on (\w+ \d+, \d{4}) at (\$[\d.,]+)/.exec(membership) ?? [];
    const receipt = await pageAt(browser, '/signup/completed/m-499');
    expect(receipt).toContain(`Renews on ${date} at ${amount}.`);
    expect(receipt).toMatch(new RegExp(`Paid \\$${(invoice?.amount_paid ?? 0) / 100}\\.00 `));
    expect(invoice?.customer).toBe(await shop.customerOf(user));
  });

  it('After a change to a cheaper plan it says until when the present one runs, and no payment of that', async () => {
    const { browser } = await buyer('14');
    expect((await press(browser, '/plan-purchase/10')).status).toBe(303);
    const words = await pageAt(browser, '/signup/completed/m-99');
    expect(words).toMatch(
      /From .* your plan is Starter, monthly\. Taking you there… Begins on (\w+ \d+, \d{4}) Until \1 you keep Scale\. Then Starter begins, and \$99\.00 is charged\./,
    );
    expect(words).not.toContain('Paid');
    expect(words).not.toContain('$899');
  });

  it('An address that names another plan than the member’s, and another member, get no receipt', async () => {
    const { browser } = await buyer('12');
    for (const path of ['m-99', 'm-899', 'y-5000', 'm-30', 'plan/starter-monthly/m-99', 'Appsumo-Tier-1', 'm-free'])
      expect([path, await pageAt(browser, `/signup/completed/${path}`)]).toEqual([
        path,
        expect.not.stringMatching(/\$/),
      ]);
    const other = await shop.foyer.signedIn(await shop.foyer.addUser({ planId: toPlanId('12') }));
    expect(await pageAt(other, '/signup/completed/m-499')).not.toMatch(/\$|Paid|4242/);
    expect(await pageAt(shop.foyer.browser(), '/signup/completed/m-499')).not.toMatch(/\$|Paid|4242/);
  });

  it('Of several orders only the latest is named, and none of the plan before', async () => {
    const { browser } = await buyer('10');
    expect((await press(browser, '/plan-purchase/13')).status).toBe(303);
    const [latest] = await shop.paidInvoices();
    const words = await pageAt(browser, '/signup/completed/y-5000');
    const shown = /Paid \$([\d.,]+) Date \w+ \d+, \d{4} /.exec(words)?.[1]?.replaceAll(/[.,]/g, '');
    expect(Number(shown)).toBe(latest?.amount_paid);
    expect(await pageAt(browser, '/signup/completed/m-99')).not.toMatch(/\$|Paid/);
  });

  it('A payment that was given back is named no more', async () => {
    const { browser } = await buyer('12');
    const [invoice] = await shop.paidInvoices();
    const { data } = await shop.stripe.invoicePayments.list({ invoice: invoice?.id ?? '' });
    const intent = data[0]?.payment.payment_intent;
    await shop.stripe.refunds.create({ payment_intent: String(intent), amount: 100 });
    await shop.foyer.app.membership.reconcile();
    expect(await pageAt(browser, '/signup/completed/m-499')).not.toMatch(/Paid [$]/);
  });

  it('Users who must accept the terms first see no receipt', async () => {
    const { user, browser } = await buyer('12');
    await shop.foyer.deps.database.db
      .updateTable('users')
      .set({ acceptedTosVersion: 0 })
      .where('id', '=', user.id)
      .execute();
    expect(await pageAt(browser, '/signup/completed/m-499')).not.toMatch(/\$|4242/);
  });
});
