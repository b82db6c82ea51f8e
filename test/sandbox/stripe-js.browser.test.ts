import type { Server } from 'node:http';
import type { Page } from 'playwright-core';
import type Stripe from 'stripe';
import { contentSecurityPolicy } from '../../server/http/index.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';

interface Change {
  elementType: string;
  empty: boolean;
  complete: boolean;
  brand?: string;
  error?: { type: string; code: string; message: string };
}
interface Result {
  setupIntent?: { id: string; status: string; payment_method: string };
  paymentIntent?: { id: string; status: string };
  paymentMethod?: { id: string; billing_details: { name: string } };
  token?: { id: string; card: { last4: string } };
  error?: { type: string; code?: string; decline_code?: string; message: string; setup_intent?: { status: string } };
}

const nonce = 'bm9uY2U';
const numberLabel = 'Credit or debit card number';
const expiryLabel = 'Credit or debit card expiration date';
const cvcLabel = 'Credit or debit card CVC/CVV';

/** A page with a card under the policy that Foyer's payment page has. */
const document = `<!doctype html><html lang="en"><head><title>Card</title></head><body><main><h1>Card</h1>
<form method="get" action="/posted"><p id="label">Card</p>
<div id="number"></div><div id="expiry"></div><div id="cvc"></div>
<input name="kept" value="1" aria-label="Kept"><button>Send</button></form></main>
<script src="/stripe.js"></script>
<script nonce="${nonce}">
  window.changes = [];
  window.ready = 0;
  const locale = new URLSearchParams(location.search).get('locale') ?? 'en';
  window.stripe = Stripe('${stripeKeys.publishableKey}', { locale });
  const elements = stripe.elements();
  for (const [type, id] of [['cardNumber', 'number'], ['cardExpiry', 'expiry'], ['cardCvc', 'cvc']]) {
    const element = elements.create(type, { style: { base: { color: 'rgb(20, 40, 60)', '::placeholder': { color: 'rgb(90, 90, 90)' } } } });
    element.on('change', (event) => changes.push(event));
    element.on('ready', () => { window.ready += 1; });
    element.mount('#' + id);
  }
  window.card = () => elements.getElement('cardNumber');
</script></body></html>`;

describe('the stand-in for Stripe.js', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let standIn: TestStripe;
  let stripe: Stripe;
  let server: Server;
  let address: string;
  beforeAll(async () => {
    standIn = await startStripe();
    stripe = standIn.client();
    const origins = [standIn.url];
    const policy = contentSecurityPolicy(nonce, { scripts: origins, connects: origins, frames: origins });
    const listening = await listenOnFreePort((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy });
      res.end(document.replace('/stripe.js', `${standIn.url}/stripe.js`));
    });
    server = listening.server;
    // Another site than the stand-in's.
    address = `http://localhost:${listening.port}/`;
  });
  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    await standIn?.close();
  });

  async function open(query = ''): Promise<Page> {
    const page = await newPage();
    await page.goto(address + query);
    await page.waitForFunction('window.ready === 3');
    return page;
  }
  async function type(page: Page, number: string, expiry = '12 / 34', cvc = '123'): Promise<void> {
    await page.getByLabel(numberLabel).pressSequentially(number);
    await page.getByLabel(expiryLabel).fill(expiry);
    await page.getByLabel(cvcLabel).fill(cvc);
  }
  const changes = (page: Page) => page.evaluate<Change[]>('window.changes');
  const newIntent = async () => {
    const customer = await stripe.customers.create({ email: 'vera@example.com' });
    return stripe.setupIntents.create({
      customer: customer.id,
      usage: 'off_session',
      allowed_payment_method_types: ['card'],
    });
  };
  /** Begins it; the page keeps the result. */
  const begin = (page: Page, call: string) => page.evaluate(`void (window.result = ${call})`);
  const result = (page: Page) => page.evaluate<Result>('window.result');
  const confirmSetup = (page: Page, intent: Stripe.SetupIntent) =>
    begin(
      page,
      `stripe.confirmCardSetup('${intent.client_secret}', { payment_method: { card: card(), billing_details: { name: 'Vera' } } })`,
    );

  it('The three labelled fields report what is typed into them, with Stripe’s codes', async () => {
    const page = await open();
    expect(await axeFindings(page)).toEqual([]);
    const number = page.getByLabel(numberLabel);
    await number.pressSequentially('4000056655665557');
    expect(await number.inputValue()).toBe('4000 0566 5566 5557');
    expect((await changes(page)).at(-1)).toEqual({
      elementType: 'cardNumber',
      empty: false,
      complete: false,
      brand: 'visa',
      error: { type: 'validation_error', code: 'invalid_number', message: 'Your card number is invalid.' },
    });
    expect(await page.locator('#number').getAttribute('class')).toContain('StripeElement--invalid');
    // A digit in the midst is put right where it is.
    await number.press('Home');
    for (let at = 0; at < 6; at += 1) await number.press('ArrowRight');
    await number.press('Delete');
    await number.press('9');
    expect(await number.inputValue()).toBe('4000 0966 5566 5557');
    await number.fill('378282246310005');
    expect((await changes(page)).at(-1)).toEqual({
      elementType: 'cardNumber',
      empty: false,
      complete: true,
      brand: 'amex',
    });
    const expiry = page.getByLabel(expiryLabel);
    await expiry.fill('1120');
    expect((await changes(page)).at(-1)).toMatchObject({ error: { code: 'invalid_expiry_year_past' } });
    await expiry.fill('12/3');
    expect((await changes(page)).at(-1)).not.toHaveProperty('error.code');
    await page.getByLabel(cvcLabel).fill('123');
    expect((await changes(page)).at(-1)).toMatchObject({ elementType: 'cardCvc', complete: false });
    // Left behind incomplete: now it is said.
    await number.focus();
    const codes = (await changes(page)).flatMap(({ error }) => error?.code ?? []);
    expect(codes.slice(-2)).toEqual(['incomplete_expiry', 'incomplete_cvc']);
    expect(await page.locator('#expiry input').evaluate((input) => getComputedStyle(input).color)).toBe(
      'rgb(20, 40, 60)',
    );
    expect(await axeFindings(page)).toEqual([]);
    // What is typed there no form sends.
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/posted/);
    expect(new URL(page.url()).search).toBe('?kept=1');
  });

  it('An untouched or incomplete card is not sent', async () => {
    const page = await open('?locale=de');
    await confirmSetup(page, await newIntent());
    expect(await result(page)).toEqual({
      error: { type: 'validation_error', code: 'incomplete_number', message: 'Die Kartennummer ist unvollständig.' },
    });
    expect(await changes(page)).toEqual([]);
  });

  it('The stand-in saves a card, and creates a payment method and a token', async () => {
    const page = await open();
    await type(page, '4242424242424242');
    const intent = await newIntent();
    await confirmSetup(page, intent);
    const saved = await result(page);
    expect(saved).toMatchObject({ setupIntent: { id: intent.id, status: 'succeeded' } });
    const method = await stripe.paymentMethods.retrieve(saved.setupIntent?.payment_method ?? '');
    expect(method).toMatchObject({
      customer: intent.customer,
      card: { last4: '4242', exp_month: 12, exp_year: 2034 },
      billing_details: { name: 'Vera' },
    });
    await begin(page, `stripe.createPaymentMethod({ type: 'card', card: card(), billing_details: { name: 'Ada' } })`);
    expect(await result(page)).toMatchObject({ paymentMethod: { billing_details: { name: 'Ada' } } });
    await begin(page, `stripe.createToken(card(), { name: 'Ada' })`);
    expect(await result(page)).toMatchObject({ token: { card: { last4: '4242' } } });
    await begin(page, `stripe.retrieveSetupIntent('${intent.client_secret}')`);
    expect(await result(page)).toMatchObject({ setupIntent: { status: 'succeeded' } });
  });

  it('A declined card gives the error of Stripe', async () => {
    const page = await open();
    await type(page, '4000000000000002');
    await confirmSetup(page, await newIntent());
    expect(await result(page)).toMatchObject({
      error: {
        type: 'card_error',
        code: 'card_declined',
        decline_code: 'generic_decline',
        setup_intent: { status: 'requires_payment_method' },
      },
    });
    expect(takeFaults()).toEqual([expect.stringMatching(/^answered 402: .*\/confirm$/)]);
  });

  it('The stand-in shows the bank’s page and reports its answer', async () => {
    const page = await open();
    await type(page, '4000002760003184');
    const intent = await newIntent();
    const bank = page.frameLocator('dialog iframe');
    await confirmSetup(page, intent);
    await bank.getByRole('button', { name: 'Fail' }).click();
    expect(await result(page)).toMatchObject({
      error: {
        code: 'setup_intent_authentication_failure',
        setup_intent: { status: 'requires_payment_method' },
      },
    });
    await confirmSetup(page, intent);
    await bank.getByRole('button', { name: 'Complete' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    // To close it is to fail.
    await page.getByRole('button', { name: 'Cancel' }).press('Escape');
    expect(await result(page)).toMatchObject({ error: { code: 'setup_intent_authentication_failure' } });
    await confirmSetup(page, intent);
    await bank.getByRole('button', { name: 'Complete' }).click();
    expect(await result(page)).toMatchObject({ setupIntent: { status: 'succeeded' } });
    expect(await page.locator('dialog').count()).toBe(0);
  });

  it('The stand-in confirms a payment that waits for bank authentication', async () => {
    const page = await open();
    await type(page, '4000002760003184');
    const intent = await newIntent();
    await begin(
      page,
      `stripe.confirmCardSetup('${intent.client_secret}', { payment_method: { card: card() } }, { handleActions: false })`,
    );
    expect(await result(page)).toMatchObject({ setupIntent: { status: 'requires_action' } });
    const bank = page.frameLocator('dialog iframe');
    await begin(page, `stripe.handleNextAction({ clientSecret: '${intent.client_secret}' })`);
    await bank.getByRole('button', { name: 'Complete' }).click();
    const { setupIntent } = await result(page);
    const product = await stripe.products.create({ name: 'Basic' });
    const price = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 9_900,
      recurring: { interval: 'month' },
    });
    const subscription = await stripe.subscriptions.create({
      customer: intent.customer as string,
      items: [{ price: price.id }],
      default_payment_method: setupIntent?.payment_method ?? '',
      payment_behavior: 'allow_incomplete',
      expand: ['latest_invoice.confirmation_secret'],
    });
    expect(subscription.status).toBe('incomplete');
    const secret = (subscription.latest_invoice as Stripe.Invoice).confirmation_secret?.client_secret;
    await begin(page, `stripe.confirmCardPayment('${secret}')`);
    await bank.getByRole('button', { name: 'Complete' }).click();
    expect(await result(page)).toMatchObject({ paymentIntent: { status: 'succeeded' } });
    expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active');
  });
});
