import { noDetails } from '../../server/billing/details/details-store.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { wordsOf } from './checkout/shop.ts';
import { berlin, buyer, customerOf, minuteMs, refusedField, vatIdsOf } from './details-steps.ts';
import { from, manyCards, type Shop, startShop } from './steps.ts';

describe('billing details before a charge', () => {
  it('Without consumers a member buys without billing details', async () => {
    const shop = await startShop(anyBackend, manyCards);
    const { user } = await buyer(shop);
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect((await shop.membership.findDetails(user.id)).details).toEqual(noDetails);
    await shop.close();
  });

  describe('with consumers', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await startShop(anyBackend, {
        ...manyCards,
        PLANS_FILE: plansWith({ consumers: { withdrawalDays: 14 } }),
      });
    });
    afterAll(() => shop?.close());
    const summary = '/plan-purchase/10';

    it('The summary asks for the details first, the total follows them, and the payment page shows them', async () => {
      const ada = await buyer(shop);
      const before = await (await ada.browser.get(summary)).text();
      expect(wordsOf(before)).not.toContain('Due today');
      expect(before).toContain(`href="${summary}/billingDetails"`);
      expect(wordsOf(await (await ada.browser.get(`${summary}/billingDetails`)).text())).toContain('Billing details');
      const answer = await ada.browser.post(`${summary}/billingDetails`, berlin);
      expect(answer.headers.get('location')).toBe(summary);
      expect(wordsOf(await (await ada.browser.get(summary)).text())).toContain('Due today');
      const payment = await (await ada.browser.get(`${summary}/addPayment`)).text();
      expect(wordsOf(payment)).toContain('Ada Lovelace, 10115, Germany');
      expect(payment).toContain(`href="${summary}/billingDetails"`);
    });

    it.each([
      ['a country', { country: '' }, 'country', 'choose a country'],
      ['a postal code', { postal_code: '' }, 'postal_code', 'Cannot be empty'],
    ])('Without %s nothing goes on, and the typed text stays', async (_what, fields, name, text) => {
      const ada = await buyer(shop);
      const at = `${summary}/billingDetails`;
      const answer = await ada.browser.post(at, { ...berlin, company: 'Engines GmbH', ...fields });
      const html = await answer.text();
      expect(refusedField(html, name)).toContain(text);
      expect(html).toContain('value="Engines GmbH"');
      expect((await ada.browser.get(`${summary}/addPayment`)).headers.get('location')).toBe(at);
    });

    it('A country without postal codes needs none', async () => {
      const ada = await buyer(shop);
      const answer = await ada.browser.post(`${summary}/billingDetails`, { country: 'HK' });
      expect(answer.headers.get('location')).toBe(summary);
    });

    it('Without billing details no page and no call charges anything', async () => {
      const ada = await buyer(shop);
      await shop.saveCard(ada.user);
      const { plan } = await shop.membership.choose(ada.user, shop.plan('m-99'));
      const announced = { planId: plan.id, dueCents: 9_900 };
      expect(await shop.membership.confirm(ada.user, announced, from)).toEqual({ kind: 'no-billing-details' });
      const answer = await ada.browser.post(summary, { planId: plan.id, dueCents: '9900' });
      expect(answer.headers.get('location')).toBe(`${summary}/billingDetails`);
      expect((await shop.stripe.client().invoices.list({ customer: ada.customer, status: 'paid' })).data).toHaveLength(
        1,
      );
    });

    it('While Stripe is away the form says so and keeps what was typed', async () => {
      const ada = await buyer(shop);
      shop.stripe.fault('error', (method, at) => method === 'POST' && at.startsWith('/v1/customers/'));
      const answer = await ada.browser.post(`${summary}/billingDetails`, { ...berlin, company: 'Engines GmbH' });
      const html = await answer.text();
      expect(html).toContain('value="Engines GmbH"');
      expect(wordsOf(html)).toContain('Stripe customer updation error!');
      const again = await ada.browser.post(`${summary}/billingDetails`, { ...berlin, company: 'Engines GmbH' });
      expect(again.headers.get('location')).toBe(summary);
    });
  });

  describe('with automatic tax', () => {
    let shop: Shop;
    beforeAll(async () => {
      const tax = { automatic: true, behaviour: 'exclusive' } as const;
      shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ tax }) });
      shop.stripe.webhooks.mode = 'held';
      shop.stripe.tell(shop.foyer.url);
    });
    afterAll(() => shop?.close());
    const at = '/plan-purchase/10/billingDetails';

    it('A place that Stripe Tax does not know is an error at the postal code, and the former place stays', async () => {
      const ada = await buyer(shop);
      await ada.browser.post(at, berlin);
      const answer = await ada.browser.post(at, { country: 'US', postal_code: '00000', city: 'Nowhere' });
      const html = await answer.text();
      expect(refusedField(html, 'postal_code')).toContain('This place isn’t known');
      expect(html).toContain('value="Nowhere"');
      expect((await customerOf(shop, ada)).address).toMatchObject({ country: 'DE', city: null });
      shop.passTime(minuteMs);
      await shop.membership.work();
      expect((await customerOf(shop, ada)).address).toMatchObject({ country: 'DE' });
      expect((await shop.membership.findDetails(ada.user.id)).isMissing).toBe(false);
    });

    it('A place that is refused after an outage is asked for again before the next charge', async () => {
      const ada = await buyer(shop);
      shop.stripe.fault('error', (method, path) => method === 'POST' && path.startsWith('/v1/customers/'));
      await ada.browser.post(at, { country: 'US', postal_code: '00000' });
      shop.passTime(minuteMs);
      await shop.membership.work();
      expect((await customerOf(shop, ada)).name).toBe('Ada Lovelace');
      expect((await shop.membership.findDetails(ada.user.id)).isMissing).toBe(true);
      await ada.browser.post(at, berlin);
      expect((await shop.membership.findDetails(ada.user.id)).isMissing).toBe(false);
    });

    it('A VAT id that the registry does not know is taken away at Stripe, so that tax is charged', async () => {
      const ada = await buyer(shop);
      await ada.browser.post(at, { country: 'FR', postal_code: '75001', vat_id: 'FR111111111' });
      expect(await vatIdsOf(shop, ada)).toEqual(['eu_vat FR111111111']);
      await shop.stripe.webhooks.deliver();
      expect(await vatIdsOf(shop, ada)).toEqual([]);
      shop.passTime(minuteMs);
      await shop.membership.work();
      expect(await vatIdsOf(shop, ada)).toEqual([]);
      const { details, vatIdStatus } = await shop.membership.findDetails(ada.user.id);
      expect([details.vatId, vatIdStatus]).toEqual(['FR111111111', 'unverified']);
    });

    it('A VAT id that the registry knows, or has not answered about, stays at Stripe', async () => {
      const ada = await buyer(shop);
      for (const vatId of ['FR000000000', 'FR222222222']) {
        await ada.browser.post(at, { country: 'FR', postal_code: '75001', vat_id: vatId });
        await shop.stripe.webhooks.deliver();
        expect(await vatIdsOf(shop, ada)).toEqual([`eu_vat ${vatId}`]);
      }
      expect((await customerOf(shop, ada)).tax_exempt).toBe('none');
    });
  });
});
