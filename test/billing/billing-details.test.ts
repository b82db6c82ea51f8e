import { noDetails } from '../../server/billing/details/details-store.ts';
import { billingDataSource, diffWithStripe } from '../../server/billing/index.ts';
import { anyBackend, backends } from '../support/stores.ts';
import { asMember } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import {
  type Buyer,
  berlin,
  buyer,
  customerOf,
  enter,
  minuteMs,
  path,
  refusedField,
  saved,
  vatIdsOf,
} from './details-steps.ts';
import { manyCards, type Shop, startShop } from './steps.ts';

describe.each(backends)('billing details, on $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend, manyCards);
    shop.stripe.webhooks.mode = 'held';
    shop.stripe.tell(shop.foyer.url);
  });
  afterAll(() => shop?.close());

  const work = async () => {
    shop.passTime(minuteMs);
    await shop.membership.work();
  };

  const events = async () => {
    const answers = await shop.stripe.webhooks.deliver();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  };

  it('The customer at Stripe has what a member enters in the settings, and the next invoice shows it', async () => {
    const ada = await buyer(shop);
    await shop.saveCard(ada.user);
    const entered = { name: 'Augusta King', company: 'Engines GmbH', line1: 'Unter den Linden 1', city: 'Berlin' };
    expect(saved(await enter(ada.browser, { ...entered, vat_id: 'de 000 000 000' }))).toBe(true);
    const address = { country: 'DE', postal_code: '10115', city: 'Berlin', line1: 'Unter den Linden 1', line2: null };
    expect(await customerOf(shop, ada)).toMatchObject({
      name: 'Engines GmbH',
      business_name: 'Engines GmbH',
      individual_name: 'Augusta King',
      address,
    });
    expect(await vatIdsOf(shop, ada)).toEqual(['eu_vat DE000000000']);
    await shop.buy(ada.user, 'm-99');
    const [invoice] = (await shop.stripe.client().invoices.list({ customer: ada.customer, limit: 1 })).data;
    expect(invoice).toMatchObject({
      customer_name: 'Engines GmbH',
      customer_address: address,
      customer_tax_ids: [{ type: 'eu_vat', value: 'DE000000000' }],
    });
    expect(wordsOf(await (await ada.browser.get('/settings/membership')).text())).toContain(
      'Engines GmbH, Unter den Linden 1, 10115 Berlin, Germany, DE000000000',
    );
  });

  it('Details that change while Stripe is away reach the customer with the next minute job', async () => {
    const ada = await buyer(shop);
    await enter(ada.browser, { vat_id: 'DE000000000' });
    shop.stripe.fault('error', (method, at) => method === 'POST' && at.startsWith('/v1/customers/'));
    const answer = await enter(ada.browser, { country: 'FR', postal_code: '75001', vat_id: 'FR222222222' });
    expect(answer.headers.get('location')).toContain('#membership:details-noted');
    expect((await customerOf(shop, ada)).address).toMatchObject({ country: 'DE' });
    await work();
    expect((await customerOf(shop, ada)).address).toMatchObject({ country: 'FR', postal_code: '75001' });
    expect(await vatIdsOf(shop, ada)).toEqual(['eu_vat FR222222222']);
  });

  it('A lost answer to a new VAT id makes no second one', async () => {
    const ada = await buyer(shop);
    shop.stripe.fault('lost', (method, at) => method === 'POST' && at.endsWith('/tax_ids'));
    await enter(ada.browser, { vat_id: 'DE000000000' });
    await work();
    expect(await vatIdsOf(shop, ada)).toEqual(['eu_vat DE000000000']);
  });

  it('A VAT id whose creation Stripe has failed is there at once, though Stripe keeps that answer for a day', async () => {
    const ada = await buyer(shop);
    shop.stripe.fault('kept-error', (method, at) => method === 'POST' && at.endsWith('/tax_ids'));
    expect(saved(await enter(ada.browser, { vat_id: 'DE000000000' }))).toBe(true);
    expect(await vatIdsOf(shop, ada)).toEqual(['eu_vat DE000000000']);
  });

  it('The result of the verification, which comes later, is shown', async () => {
    const ada = await buyer(shop);
    const statusOf = async () => (await shop.membership.findDetails(ada.user.id)).vatIdStatus;
    await enter(ada.browser, { vat_id: 'DE000000000' });
    expect(await statusOf()).toBe('pending');
    await events();
    expect(await statusOf()).toBe('verified');
    await enter(ada.browser, { vat_id: 'DE111111111' });
    await events();
    expect(await statusOf()).toBe('unverified');
    expect(wordsOf(await (await ada.browser.get('/settings/membership')).text())).toContain('couldn’t be confirmed');
  });

  it('The copy of the personal data has the billing details, and the erasure removes them', async () => {
    const ada = await buyer(shop);
    await enter(ada.browser, { company: 'Engines GmbH', vat_id: 'DE000000000' });
    const { database, now } = shop.foyer.deps;
    const source = billingDataSource(database);
    expect(await source.exportData(ada.user)).toMatchObject({
      billingDetails: { company: 'Engines GmbH', country: 'DE', postalCode: '10115', vatId: 'DE000000000' },
    });
    await database.transaction((trx) => source.erase(trx, ada.user, now()));
    expect(await source.exportData(ada.user)).toMatchObject({ billingDetails: null });
    await work();
    expect(await shop.stripe.client().customers.retrieve(ada.customer)).toMatchObject({ deleted: true });
  });

  it('Two changes at once leave one VAT id at Stripe, the stored one', async () => {
    const ada = await buyer(shop);
    await Promise.all(['DE000000000', 'DE222222222'].map((vat_id) => enter(ada.browser, { vat_id })));
    await work();
    const { vatId } = (await shop.membership.findDetails(ada.user.id)).details;
    expect(await vatIdsOf(shop, ada)).toEqual([`eu_vat ${vatId}`]);
  });
});

describe('the form of the billing details', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
  });
  afterAll(() => shop?.close());

  it.each([
    ['AT', 'u12345678', 'eu_vat ATU12345678'],
    ['GR', '123456789', 'eu_vat EL123456789'],
    ['GB', '123 4567 89', 'gb_vat GB123456789'],
    ['GB', 'XI 123456789', 'eu_vat XI123456789'],
    ['CH', 'che123456789', 'ch_vat CHE-123.456.789 MWST'],
    ['CH', 'CHE-123.456.789 TVA', 'ch_vat CHE-123.456.789 TVA'],
    ['NO', '123 456 789', 'no_vat 123456789MVA'],
  ])('A VAT id of %s that is typed as %s becomes %s at Stripe', async (country, typed, expected) => {
    const ada = await buyer(shop);
    expect(saved(await enter(ada.browser, { country, vat_id: typed }))).toBe(true);
    expect(await vatIdsOf(shop, ada)).toEqual([expected]);
  });

  it('An invalid VAT id is an error at its field, which keeps the typed text, and changes nothing', async () => {
    const ada = await buyer(shop);
    await enter(ada.browser, { vat_id: 'DE000000000', city: 'Berlin' });
    const answer = await enter(ada.browser, { city: 'Hamburg', vat_id: 'DE 12' });
    const html = await answer.text();
    expect(refusedField(html, 'vat_id')).toBe('This isn’t a valid VAT ID of this country. Example: DE123456789.');
    expect(html).toMatch(/name="vat_id"[^>]*value="DE 12"|value="DE 12"[^>]*name="vat_id"/);
    expect(html).toMatch(/value="Hamburg"/);
    shop.passTime(minuteMs);
    await shop.membership.work();
    expect(await vatIdsOf(shop, ada)).toEqual(['eu_vat DE000000000']);
    expect((await customerOf(shop, ada)).address).toMatchObject({ city: 'Berlin' });
    expect((await shop.membership.findDetails(ada.user.id)).details).toMatchObject({ city: 'Berlin' });
  });

  it.each([
    ['a VAT id of a country without one', { country: 'US', vat_id: '12-3456789' }, 'vat_id', 'can’t use a VAT ID'],
    ['a VAT id without a country', { country: '', vat_id: 'DE000000000' }, 'country', 'choose a country'],
    ['an unknown country', { country: 'XX' }, 'country', 'Choose an option.'],
    ['a line that is too long', { line1: 'a'.repeat(201) }, 'line1', 'at most 200'],
    ['direction marks', { company: 'Engines \u202eHbmG' }, 'company', 'aren’t allowed'],
    ['a line break', { city: 'Ber\nlin' }, 'city', 'aren’t allowed'],
  ])('The form refuses %s at its field', async (_what, fields: Record<string, string>, name, text) => {
    const ada = await buyer(shop);
    const answer = await enter(ada.browser, fields);
    const html = await answer.text();
    expect(refusedField(html, name)).toContain(text);
    expect((await shop.membership.findDetails(ada.user.id)).details).toEqual(noDetails);
  });

  it('Markup in billing details is shown as text', async () => {
    const ada = await buyer(shop);
    await enter(ada.browser, { company: '<img src=x onerror=alert(1)>', line1: '"><script>alert(1)</script>' });
    for (const page of ['/settings/membership', path, '/plan-purchase/10/addPayment']) {
      const html = await (await ada.browser.get(page)).text();
      expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
      expect(html).not.toMatch(/<img src=x|<script>alert/);
    }
  });

  it('Countries have the names and the order of the language', async () => {
    const ada = await buyer(shop);
    const names = async (lang: string) => {
      const html = await (await ada.browser.get(path, { headers: { 'accept-language': lang } })).text();
      return [...html.matchAll(/<option value="[A-Z]{2}"[^>]*>([^<]*)/g)].map(([, name = '']) => name);
    };
    const german = await names('de');
    expect(german).toHaveLength(249);
    expect(german.indexOf('Ägypten')).toBeLessThan(german.indexOf('Albanien'));
    expect(german.indexOf('Österreich')).toBeLessThan(german.indexOf('Panama'));
    expect(await names('fr')).toContain('Allemagne');
  });

  it('The name of the profile is kept apart: a later change of it reaches the invoices', async () => {
    const ada = await buyer(shop);
    await enter(ada.browser, { name: 'Ada Lovelace' });
    await ada.browser.post('/settings/name', { given_name: 'Augusta', family_name: 'King' });
    shop.passTime(minuteMs);
    await shop.membership.work();
    expect((await customerOf(shop, ada)).name).toBe('Augusta King');
  });

  it('Another address at Stripe is a difference, which the comparison names without the address', async () => {
    const ada = await buyer(shop);
    await enter(ada.browser, {});
    await shop.stripe.client().customers.update(ada.customer, { address: { country: 'FR' } });
    const { left } = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
    expect(left.filter(({ userId }) => userId === ada.user.id)).toMatchObject([
      { kind: 'customer details', detail: 'address' },
    ]);
  });

  it('A VAT id that an operator has added stays', async () => {
    const ada = await buyer(shop);
    await shop.stripe.client().customers.createTaxId(ada.customer, { type: 'no_vat', value: '123456789MVA' });
    await enter(ada.browser, { vat_id: 'DE000000000' });
    await enter(ada.browser, { vat_id: '' });
    expect(await vatIdsOf(shop, ada)).toEqual(['no_vat 123456789MVA']);
  });

  it('The sixty-first change of billing details within an hour is refused, and asks nothing of Stripe', async () => {
    const ada = await buyer(shop);
    for (let count = 0; count < 60; count += 1) await shop.membership.saveDetails(ada.user, noDetails);
    const asked: string[] = [];
    shop.stripe.observe(({ path: at }) => asked.push(at));
    const answer = await enter(ada.browser, {});
    const html = await answer.text();
    expect(html).toContain('couldn’t be saved');
    expect(asked).toEqual([]);
    expect((await shop.membership.findDetails(ada.user.id)).details).toEqual(noDetails);
  });

  it('The JSON API reads and replaces the billing details of the caller, and no others', async () => {
    const [ada, other] = [await buyer(shop), await buyer(shop)];
    const call = await asMember(shop, ada.user);
    const at = ({ customer }: Buyer) => `/customer/${customer}/billing-details`;
    const details = { ...berlin, company: 'Engines GmbH', vat_id: 'DE000000000' };
    expect(await call('PUT', at(ada), details)).toMatchObject({ status: 200, body: { ...details, name: null } });
    expect(await call('GET', at(ada))).toMatchObject({ status: 200, body: { ...details, required: false } });
    expect(await call('PUT', at(ada), { ...details, vat_id: 'DE12' })).toMatchObject({
      status: 400,
      body: { detail: 'This isn’t a valid VAT ID of this country. Example: DE123456789.' },
    });
    expect((await call('PUT', at(ada), { city: 'a'.repeat(101) })).status).toBe(400);
    for (const method of ['GET', 'PUT'] as const) {
      const body = method === 'PUT' ? details : undefined;
      expect(await call(method, at(other), body)).toMatchObject({ status: 404 });
    }
    expect((await shop.membership.findDetails(other.user.id)).details).toEqual(noDetails);
  });
});
