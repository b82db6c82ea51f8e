import { toSavedCard } from '../../../server/billing/stripe/stripe-objects.ts';
import type { Browser } from '../../support/browser.ts';
import { from } from '../steps.ts';
import { confirmCard, islandProps, readCardForm } from './card-steps.ts';
import { openShop, type Shop, wordsOf } from './shop.ts';

const path = '/plan-purchase/10/addPayment';

/** The form that pays the plan, and the secret of its set-up at Stripe. */
async function openCardForm(browser: Browser) {
  const { action, fields, setupUrl } = readCardForm(await (await browser.get(path)).text());
  const { clientSecret } = (await (await browser.postJson(setupUrl, {})).json()) as { clientSecret: string };
  return { action, fields, clientSecret };
}

describe('a shop that takes cards, wallets and Link', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ PAYMENT_METHODS: 'card,link,apple_pay' });
  });
  afterAll(() => shop?.close());

  it.each([path, '/settings/membership/card'])(
    'The page %s shows Stripe’s payment element with the configured methods and wallets',
    async (page) => {
      const browser = await shop.foyer.signedIn(await shop.foyer.addUser());
      const html = await (await browser.get(page)).text();
      expect(islandProps(html, 'card-form').methods).toEqual({
        types: ['card', 'link'],
        applePay: true,
        googlePay: false,
        currency: 'usd',
      });
      expect(html).not.toContain('card-element');
      // Without scripts the page says why, as before.
      expect(html).toContain('without-script');
    },
  );

  it('Link pays a plan at once, and page and order name it', async () => {
    const user = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(user);
    const { action, fields, clientSecret } = await openCardForm(browser);
    const setupIntent = clientSecret.split('_secret_')[0] ?? '';
    const link = { type: 'link', link: {}, billing_details: { email: user.email } };
    shop.standIn.engine.call({
      method: 'POST',
      path: `/v1/setup_intents/${setupIntent}/confirm`,
      params: { client_secret: clientSecret, payment_method_data: link },
      as: 'publishable',
    });
    expect((await browser.post(action, { ...fields, setupIntent })).status).toBe(303);
    expect(await shop.planOf(user)).toBe('10');
    expect(wordsOf(await (await browser.get('/settings/membership')).text())).toMatch(/Payment method Link Change/);
  });
});

describe('a wallet', () => {
  it.each([
    ['apple_pay', 'Apple Pay (Visa •••• 4242)'],
    ['google_pay', 'Google Pay (Visa •••• 4242)'],
  ])('A plan is paid by %s, and the membership and the receipt name the wallet and its card', async (type, words) => {
    const shop = await openShop({ PAYMENT_METHODS: `card,${type}` });
    try {
      const user = await shop.foyer.addUser();
      const browser = await shop.foyer.signedIn(user);
      const { action, fields, clientSecret } = await openCardForm(browser);
      const setupIntent = confirmCard(shop, clientSecret, '4242424242424242');
      // A wallet gives Stripe a card. The stand-in opens no wallet, so that of the card is written into its state.
      const state = shop.standIn.engine.snapshot() as { objects: { object: string; card?: { wallet: unknown } }[] };
      for (const { object, card } of state.objects)
        if (object === 'payment_method' && card) card.wallet = { type, dynamic_last4: null, [type]: {} };
      shop.standIn.engine.restore(state);
      expect((await browser.post(action, { ...fields, setupIntent })).status).toBe(303);
      expect(await shop.planOf(user)).toBe('10');
      expect((await shop.paidInvoices()).map(({ amount_paid: cents }) => cents)).toEqual([9_900]);
      expect(wordsOf(await (await browser.get('/settings/membership')).text())).toContain(words);
      const receipt = (await shop.foyer.mails(user.email)).find(({ template }) => template === 'receipt');
      expect(receipt?.text.replaceAll('\u00a0', ' ')).toContain(words);
    } finally {
      await shop.close();
    }
  });
});

describe('a shop that takes Link alone', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ PAYMENT_METHODS: 'link' });
  });
  afterAll(() => shop?.close());

  it('A setup intent allows the configured methods alone, so that Stripe refuses a card', async () => {
    const user = await shop.foyer.addUser();
    await shop.customerOf(user);
    const begun = await shop.foyer.app.membership.beginCard(user, from);
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    expect(() => confirmCard(shop, begun.clientSecret, '4242424242424242')).toThrow(/is not allowed/);
  });

  it('Attack: a card’s token is refused by the rules behind the JSON API when cards are not offered', async () => {
    const user = await shop.foyer.addUser();
    await shop.customerOf(user);
    expect(await shop.foyer.app.membership.keepToken(user, 'tok_visa', from)).toEqual({ kind: 'not-offered' });
    expect((await shop.foyer.app.membership.getMembership(user.id))?.card).toBeNull();
  });
});

describe('the words for a payment method', () => {
  const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034 };
  it('A card in a wallet keeps the name of its wallet, and Link’s own card does not', () => {
    const inWallet = (type: string) =>
      toSavedCard({ id: 'pm_1', type: 'card', card: { ...card, wallet: { type } } } as never)?.brand;
    expect([inWallet('apple_pay'), inWallet('google_pay'), inWallet('link')]).toEqual([
      'apple_pay/visa',
      'google_pay/visa',
      'visa',
    ]);
  });
});
