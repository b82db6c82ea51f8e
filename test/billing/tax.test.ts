import { diffWithStripe, reconcileAll } from '../../server/billing/index.ts';
import type { Buyer } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { enter, saved } from './details-steps.ts';
import { cards, dayMs, type Shop } from './steps.ts';
import { aBuyerIn, type Behaviour, buyByPage, lastSale, pageOf, startTaxedShop } from './tax-steps.ts';

describe.each<Behaviour>(['exclusive', 'inclusive'])('%s tax', (behaviour) => {
  const isAdded = behaviour === 'exclusive';
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTaxedShop(behaviour);
    const stripe = shop.stripe.client();
    await stripe.coupons.create({ id: 'HALF', percent_off: 50, duration: 'once' });
  });
  afterAll(() => shop?.close());

  const differencesOf = async ({ user }: Buyer) =>
    (await diffWithStripe(shop.membership.deps, { pauseMs: 0 })).left.filter(({ userId }) => userId === user.id);

  /** The lines and the total that a page announced. */
  const announcedIn = (words: string) =>
    /Starter, every 30 days \$.*?Due today \$[\d,.]+(?: incl\. VAT 19% \$[\d,.]+)?/.exec(words)?.[0];

  it('The page names the tax by its rate, and order, invoice and charge agree with it', async () => {
    const buyer = await aBuyerIn(shop);
    const words = await buyByPage(shop, buyer, '10');
    expect(announcedIn(words)).toBe(
      isAdded
        ? 'Starter, every 30 days $99.00 VAT 19% $18.81 Due today $117.81'
        : 'Starter, every 30 days $99.00 Due today $99.00 incl. VAT 19% $15.81',
    );
    const { invoice, order } = await lastSale(shop, buyer);
    expect(invoice.automatic_tax).toMatchObject({ enabled: true, status: 'complete' });
    expect([invoice.amount_paid, order.paidCents]).toEqual(isAdded ? [11_781, 11_781] : [9_900, 9_900]);
    expect(order.taxCents).toBe(isAdded ? 1_881 : 1_581);
    expect(await differencesOf(buyer)).toEqual([]);
  });

  it('The button names the amount with its tax', async () => {
    const buyer = await aBuyerIn(shop);
    expect(wordsOf(await pageOf(shop, buyer, '/plan-purchase/10'))).toContain(isAdded ? 'Pay $117.81' : 'Pay $99.00');
  });

  it('The tax is that of the amount after a code', async () => {
    const buyer = await aBuyerIn(shop);
    const words = await buyByPage(shop, buyer, '10', 'HALF');
    expect(announcedIn(words)).toBe(
      isAdded
        ? 'Starter, every 30 days $99.00 Promo code HALF Remove HALF −$49.50 VAT 19% $9.41 Due today $58.91'
        : 'Starter, every 30 days $99.00 Promo code HALF Remove HALF −$49.50 Due today $49.50 incl. VAT 19% $7.90',
    );
    const { invoice, order } = await lastSale(shop, buyer);
    expect(invoice.amount_paid).toBe(isAdded ? 5_891 : 4_950);
    expect(order).toMatchObject({ discountCents: 4_950, taxCents: isAdded ? 941 : 790 });
  });

  it('An upgrade credits unused time with its tax, and the lines add up to the charge', async () => {
    const buyer = await aBuyerIn(shop);
    await buyByPage(shop, buyer, '10');
    shop.passTime(15 * dayMs);
    const quote = await shop.membership.quote(buyer.user, shop.plan('m-499'), null);
    expect(quote.lines.map(({ kind }) => kind)).toEqual(['rest', 'unused', ...(isAdded ? ['tax'] : [])]);
    expect(quote.lines.reduce((sum, { cents }) => sum + cents, 0)).toBe(quote.dueCents);
    expect(await shop.buy(buyer.user, 'm-499')).toMatchObject({ kind: 'paid' });
    const { invoice, order } = await lastSale(shop, buyer);
    expect([invoice.amount_paid, order.paidCents]).toEqual([quote.dueCents, quote.dueCents]);
    expect(order.taxCents).toBe(invoice.total_taxes?.reduce((sum, { amount }) => sum + amount, 0));
    expect(await differencesOf(buyer)).toEqual([]);
  });

  it('A renewal that the credit pays in part names the tax of both parts together', async () => {
    const buyer = await aBuyerIn(shop);
    await buyByPage(shop, buyer, '11');
    expect(await shop.buy(buyer.user, 'm-499')).toMatchObject({ kind: 'paid' });
    const [charged, credited, tax] = isAdded ? ['116.62', '477.19', '94.81'] : ['98.00', '401.00', '79.67'];
    expect(wordsOf(await pageOf(shop, buyer, '/settings/membership'))).toContain(
      `at $${charged}. Another $${credited} is paid from your credit. Together they include $${tax} VAT.`,
    );
  });

  it('A renewal is charged with its tax, as it was announced', async () => {
    const buyer = await aBuyerIn(shop);
    const words = await buyByPage(shop, buyer, '10');
    const [amount, tax] = isAdded ? ['$117.81', '$18.81'] : ['$99.00', '$15.81'];
    // Before the order the row names rate and amount, and the sentence that the renewal contains it: each once.
    expect(words).toMatch(new RegExp(`VAT 19% \\${tax} .*Renews on [\\w ,]+ at \\${amount}, VAT included\\.`));
    expect(words.split(tax)).toHaveLength(2);
    expect(wordsOf(await pageOf(shop, buyer, '/settings/membership'))).toContain(`${tax} of it is VAT.`);
    shop.passTime(31 * dayMs);
    await shop.membership.refresh(buyer.user.id);
    const { invoice, order } = await lastSale(shop, buyer);
    expect(order).toMatchObject({ orderType: 'renewal', taxCents: isAdded ? 1_881 : 1_581 });
    expect(`$${(invoice.amount_paid / 100).toFixed(2)}`).toBe(amount);
  });

  it('A reverse charge is named and charges no tax', async () => {
    const buyer = await aBuyerIn(shop, { country: 'FR', postal_code: '75001' }, { tax_exempt: 'reverse' });
    expect(await buyByPage(shop, buyer, '10')).toMatch(/VAT: reverse charge \$0\.00/);
    const { invoice, order } = await lastSale(shop, buyer);
    expect([invoice.amount_paid, order.paidCents, order.taxCents]).toEqual([9_900, 9_900, 0]);
  });

  it('A company with a VAT id of another EU country is charged no tax, and page, order and invoice say why', async () => {
    const buyer = await aBuyerIn(shop);
    const browser = await shop.foyer.signedIn(buyer.user);
    const company = { company: 'Machines SARL', country: 'FR', postal_code: '75001', vat_id: 'FR 000 000 000' };
    expect(saved(await enter(browser, company))).toBe(true);
    const words = await buyByPage(shop, buyer, '10');
    expect(words).toContain('VAT: reverse charge $0.00');
    expect(words).toContain('Due today $99.00');
    const { invoice, order } = await lastSale(shop, buyer);
    expect([invoice.amount_paid, order.paidCents, order.taxCents]).toEqual([9_900, 9_900, 0]);
    expect(invoice).toMatchObject({
      customer_name: 'Machines SARL',
      customer_tax_ids: [{ type: 'eu_vat', value: 'FR000000000' }],
      total_taxes: [{ amount: 0, taxability_reason: 'reverse_charge' }],
    });
    expect(await differencesOf(buyer)).toEqual([]);
    expect(wordsOf(await pageOf(shop, buyer, '/settings/membership'))).toContain('VAT: reverse charge');
    const inDutch = await browser.get('/settings/membership', { headers: { 'accept-language': 'nl' } });
    expect(wordsOf(await inDutch.text())).toContain('Btw verlegd');
    // The id of the seller's own country leaves the tax.
    const german = await aBuyerIn(shop);
    const ofGermany = { company: 'Maschinen GmbH', country: 'DE', postal_code: '10115', vat_id: 'DE000000000' };
    expect(saved(await enter(await shop.foyer.signedIn(german.user), ofGermany))).toBe(true);
    await buyByPage(shop, german, '10');
    expect((await lastSale(shop, german)).order.taxCents).toBe(isAdded ? 1_881 : 1_581);
  });

  it('A plan that begins later is announced with its tax and charged so', async () => {
    const buyer = await aBuyerIn(shop);
    await shop.buy(buyer.user, 'm-499');
    const { next } = await shop.membership.quote(buyer.user, shop.plan('m-99'), null);
    expect(next).toMatchObject({ amountCents: isAdded ? 11_781 : 9_900, taxCents: isAdded ? 1_881 : 1_581 });
    expect(await shop.buy(buyer.user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    shop.passTime(31 * dayMs);
    await shop.membership.refresh(buyer.user.id);
    const { invoice, order } = await lastSale(shop, buyer);
    expect([invoice.amount_paid, order.planId, order.taxCents]).toEqual([next?.amountCents, '10', next?.taxCents]);
  });

  it('Receipt, list of invoices and JSON API carry the tax', async () => {
    const buyer = await aBuyerIn(shop);
    await buyByPage(shop, buyer, '10');
    const tax = isAdded ? '18.81' : '15.81';
    const { order } = await lastSale(shop, buyer);
    const { body } = await buyer.call('POST', '/user/orderCreation', { invoiceId: order.invoiceId });
    expect(body.data).toMatchObject({ tax });
    expect(wordsOf(await pageOf(shop, buyer, '/settings/membership'))).toContain(`incl. $${tax} VAT (19%)`);
    const mails = await shop.foyer.mails(buyer.user.email);
    expect(mails.find(({ subject }) => /receipt/.test(subject))?.text).toContain(`incl. VAT: $${tax} (19%)`);
  });
});

describe('tax at several rates', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTaxedShop('exclusive');
  });
  afterAll(() => shop?.close());

  it('Each rate has a line of its own, and they add up to the total', async () => {
    const buyer = await aBuyerIn(shop, { country: 'US', state: 'CA', postal_code: '94107' });
    expect(await buyByPage(shop, buyer, '10')).toContain(
      'Starter, every 30 days $99.00 Sales tax 6% $5.94 Sales tax 1.25% $1.24 Due today $106.18',
    );
    expect((await lastSale(shop, buyer)).order).toMatchObject({ paidCents: 10_618, taxCents: 718 });
  });

  it.each([
    ['de', '19 % MwSt.'],
    ['fr', 'TVA 19 %'],
    ['nl', '19% btw'],
  ])('The line of the tax is in the language of the member (%s)', async (locale, label) => {
    const buyer = await aBuyerIn(shop);
    await shop.foyer.deps.database.db.updateTable('users').set({ locale }).where('id', '=', buyer.user.id).execute();
    const html = await pageOf(shop, buyer, '/plan-purchase/10');
    expect(wordsOf(html).replaceAll(/[\u00a0\u202f]/g, ' ')).toContain(label);
  });
});

describe('a subscription from before the tax', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTaxedShop('exclusive');
  });
  afterAll(() => shop?.close());

  /** As if it had been sold before the catalogue asked for tax. */
  async function untaxedMember(...codes: string[]): Promise<Buyer> {
    const buyer = await aBuyerIn(shop);
    const { deps } = shop.membership;
    const { tax } = deps.catalogue;
    deps.catalogue.tax = undefined;
    for (const code of codes.length === 0 ? ['m-99'] : codes) await shop.buy(buyer.user, code);
    deps.catalogue.tax = tax;
    return buyer;
  }
  const isTaxed = async ({ subscription }: Buyer) =>
    (await shop.stripe.client().subscriptions.retrieve(subscription)).automatic_tax.enabled;

  it('The comparison names it, and reconcile switches the tax on and stores the next charge with it', async () => {
    const buyer = await untaxedMember();
    expect((await lastSale(shop, buyer)).order).toMatchObject({ paidCents: 9_900, taxCents: 0 });
    const { left } = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
    expect(left).toMatchObject([{ kind: 'automatic tax', detail: 'off', userId: buyer.user.id }]);
    expect(await isTaxed(buyer)).toBe(false);
    expect((await reconcileAll(shop.membership.deps, { pauseMs: 0 })).left).toEqual([]);
    expect(await isTaxed(buyer)).toBe(true);
    expect((await shop.membership.getMembership(buyer.user.id))?.nextCharge).toMatchObject({ amountCents: 11_781 });
  });

  it('Reconcile leaves it while Stripe does not know the place, and charges stay as announced', async () => {
    const buyer = await untaxedMember();
    await shop.stripe.client().customers.update(buyer.customer, { address: '' });
    const { left } = await reconcileAll(shop.membership.deps, { pauseMs: 0 });
    expect(left).toMatchObject([{ kind: 'automatic tax', userId: buyer.user.id }]);
    expect(await isTaxed(buyer)).toBe(false);
    await shop.stripe.client().customers.update(buyer.customer, { address: { country: 'DE' } });
    expect((await reconcileAll(shop.membership.deps, { pauseMs: 0 })).left).toEqual([]);
  });

  it.each([
    ['the member chooses another plan', (buyer: Buyer) => shop.membership.choose(buyer.user, shop.plan('y-900'))],
    [
      'the member does not come back',
      () => {
        shop.passTime(66 * 60_000);
        return shop.membership.work();
      },
    ],
  ])(
    'A declined upgrade leaves the renewal of an untaxed member without tax when it is given up: %s',
    async (_name, giveUp) => {
      const buyer = await untaxedMember();
      const card = (await shop.membership.getMembership(buyer.user.id))?.card?.paymentMethodId ?? '';
      shop.stripe.engine.setCardBehaviour(card, cards.chargeDeclined);
      expect(await shop.buy(buyer.user, 'm-499')).toMatchObject({ kind: 'declined' });
      await giveUp(buyer);
      expect(await isTaxed(buyer)).toBe(false);
      expect((await shop.membership.getMembership(buyer.user.id))?.nextCharge).toMatchObject({ amountCents: 9_900 });
      shop.stripe.engine.setCardBehaviour(card, cards.visa);
      shop.passTime(31 * dayMs);
      await shop.membership.refresh(buyer.user.id);
      expect((await lastSale(shop, buyer)).order).toMatchObject({
        orderType: 'renewal',
        paidCents: 9_900,
        taxCents: 0,
      });
    },
  );

  it('A plan that was scheduled before the tax begins with it after reconcile, as the membership page says', async () => {
    const buyer = await untaxedMember('m-499', 'm-99');
    const page = async () => wordsOf(await pageOf(shop, buyer, '/settings/membership'));
    expect(await page()).toMatch(/Next payment [\w ,]+ at \$99\.00/);
    const { left } = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
    expect(left.filter(({ userId }) => userId === buyer.user.id)).toMatchObject([
      { kind: 'automatic tax', detail: 'off in the schedule' },
    ]);
    await reconcileAll(shop.membership.deps, { pauseMs: 0 });
    expect(await diffWithStripe(shop.membership.deps, { pauseMs: 0 })).toMatchObject({ left: [] });
    expect(await page()).toMatch(/Next payment [\w ,]+ at \$117\.81\. \$18\.81 of it is VAT\./);
    shop.passTime(31 * dayMs);
    await shop.membership.refresh(buyer.user.id);
    expect((await lastSale(shop, buyer)).order).toMatchObject({ planId: '10', paidCents: 11_781, taxCents: 1_881 });
    expect(await isTaxed(buyer)).toBe(true);
  });

  it('An upgrade switches the tax on, and a credit for untaxed time has none', async () => {
    const buyer = await untaxedMember();
    const quote = await shop.membership.quote(buyer.user, shop.plan('m-499'), null);
    expect(quote.lines.map(({ kind, cents }) => [kind, cents])).toEqual([
      ['rest', 49_900],
      ['unused', -9_900],
      ['tax', 9_481],
    ]);
    expect(await shop.buy(buyer.user, 'm-499')).toMatchObject({ kind: 'paid' });
    expect((await lastSale(shop, buyer)).order).toMatchObject({ paidCents: 49_481, taxCents: 9_481 });
    expect(await isTaxed(buyer)).toBe(true);
  });
});
