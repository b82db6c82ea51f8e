import { plansWith } from '../../support/plans.ts';
import { beginMethodAt, confirmMethod, methodData } from './card-steps.ts';
import { openShop, type Shop, wordsOf } from './shop.ts';

const path = '/plan-purchase/10/addPayment';
const cardPath = '/settings/membership/card';

const fieldsIn = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );

/** The first form with the intent's id: that of the confirmed method. */
const returnedForm = (html: string) =>
  [...html.matchAll(/<form class="form" [^>]*>.*?<\/form>/gs)].find(([form]) => form.includes('value="seti_'))?.[0];

describe('payment methods that lead to a bank’s page', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({
      PAYMENT_METHODS: 'card,ideal,bancontact',
      PLANS_FILE: plansWith({ currency: 'eur' }),
    });
    shop.standIn.tell(shop.foyer.url);
  });
  afterAll(() => shop?.close());

  const defaultMethod = async (customer: string) => {
    const expand = ['invoice_settings.default_payment_method'];
    const found = await shop.stripe.customers.retrieve(customer, { expand });
    if (found.deleted) throw new Error('the customer is gone');
    const { default_payment_method: method } = found.invoice_settings;
    return typeof method === 'string' ? undefined : method;
  };

  it.each([
    ['ideal', 'iDEAL'],
    ['bancontact', 'Bancontact'],
  ] as const)(
    '%s leaves a SEPA debit: the page after the bank names it, saves nothing, and its button goes on',
    async (type, name) => {
      const user = await shop.foyer.addUser();
      const customer = await shop.customerOf(user);
      const browser = await shop.foyer.signedIn(user);
      const begun = await beginMethodAt(browser, path);
      confirmMethod(shop, begun, { data: methodData.redirect(type), bank: 'succeed' });

      const page = await browser.get(`${path}?setup_intent=${begun.setupIntent}&redirect_status=succeeded`);
      const html = await page.text();
      expect(page.status).toBe(200);
      expect(wordsOf(html)).toContain(`${name} (SEPA debit •••• 3000)`);
      expect(await defaultMethod(customer)).toBeNull();

      const form = returnedForm(html) ?? '';
      expect(fieldsIn(form)).toMatchObject({ act: 'save-card', setupIntent: begun.setupIntent, planId: '10' });
      expect((await browser.post(path, fieldsIn(form))).status).toBe(303);
      expect(await defaultMethod(customer)).toMatchObject({ type: 'sepa_debit', customer });
      const membership = await shop.foyer.app.membership.getMembership(user.id);
      expect(membership?.card).toMatchObject({ brand: type, lastFour: '3000', expYear: null });
      // The debit takes days: no plan before the bank has paid.
      expect(await shop.planOf(user)).toBeNull();
      shop.standIn.engine.advance(5 * 60_000);
      await shop.standIn.webhooks.idle();
      expect(await shop.planOf(user)).toBe('10');
    },
  );

  it('The card page after the bank’s page saves the debit by its button', async () => {
    const user = await shop.foyer.addUser();
    const customer = await shop.customerOf(user);
    const browser = await shop.foyer.signedIn(user);
    const begun = await beginMethodAt(browser, cardPath);
    confirmMethod(shop, begun, { data: methodData.redirect('ideal'), bank: 'succeed' });
    const html = await (await browser.get(`${cardPath}?setup_intent=${begun.setupIntent}`)).text();
    expect((await browser.post(cardPath, fieldsIn(returnedForm(html) ?? ''))).status).toBe(303);
    expect(await defaultMethod(customer)).toMatchObject({ type: 'sepa_debit' });
  });

  it('The address’s word that the bank has agreed counts for nothing: Stripe is asked', async () => {
    const user = await shop.foyer.addUser();
    await shop.customerOf(user);
    const browser = await shop.foyer.signedIn(user);
    const begun = await beginMethodAt(browser, path);
    confirmMethod(shop, begun, { data: methodData.redirect('ideal'), bank: 'fail' });
    const page = await browser.get(`${path}?setup_intent=${begun.setupIntent}&redirect_status=succeeded`);
    expect(page.status).toBe(402);
    const html = await page.text();
    expect(returnedForm(html)).toBeUndefined();
    const { action, fields, setupIntent } = { ...begun };
    expect((await browser.post(action, { ...fields, setupIntent })).status).toBe(402);
    expect(await shop.planOf(user)).toBeNull();
  });

  it('Attack: a setup intent of another member is neither shown nor saved nor charged', async () => {
    const victim = await shop.foyer.addUser();
    const victimCustomer = await shop.customerOf(victim);
    const ofVictim = await beginMethodAt(await shop.foyer.signedIn(victim), path);
    confirmMethod(shop, ofVictim, { data: methodData.redirect('ideal'), bank: 'succeed' });

    const attacker = await shop.foyer.addUser();
    const customer = await shop.customerOf(attacker);
    const browser = await shop.foyer.signedIn(attacker);
    const own = await beginMethodAt(browser, path);
    const { setupIntent } = ofVictim;
    for (const page of [path, cardPath]) {
      const answer = await browser.get(`${page}?setup_intent=${setupIntent}&redirect_status=succeeded`);
      expect(answer.status).toBe(400);
      const html = await answer.text();
      expect(returnedForm(html)).toBeUndefined();
      expect(wordsOf(html)).not.toContain('3000');
    }
    expect((await browser.post(path, { ...own.fields, setupIntent })).status).toBe(400);
    expect((await browser.post(cardPath, { setupIntent })).status).toBe(400);
    expect(await defaultMethod(customer)).toBeNull();
    expect(await defaultMethod(victimCustomer)).toBeNull();
    expect(await shop.paidInvoices()).not.toContainEqual(expect.objectContaining({ customer }));
    expect(await shop.planOf(attacker)).toBeNull();
  });
});
