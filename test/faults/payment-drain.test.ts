import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, createStripe, listOrders, syncPlans } from '../../server/billing/index.ts';
import { openDatabase } from '../../server/store/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { addMember, createServers, untilReady } from '../journeys/server-process.ts';
import { Browser } from '../support/browser.ts';
import { toUserId } from '../support/ids.ts';
import { startProxy } from '../support/proxy.ts';
import { startStripe, stripeKeys } from '../support/stripe.ts';
import { withoutSandbox } from './without-sandbox.ts';

const servers = createServers();
afterAll(() => servers.end());

const address = '/plan-purchase/10/addPayment';

/** The browser's part at Stripe. @returns the setup intent with a card */
async function enterCard(browser: Browser, stripe: Awaited<ReturnType<typeof startStripe>>): Promise<string> {
  const begun = (await (await browser.postJson(`${address}/setup`, {})).json()) as { clientSecret: string };
  const { clientSecret } = begun;
  const id = clientSecret.split('_secret_')[0] ?? '';
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2034, cvc: '123' };
  const data = { type: 'card', card, billing_details: { name: 'Ada', address: { postal_code: '10115' } } };
  stripe.engine.call({
    method: 'POST',
    path: `/v1/setup_intents/${id}/confirm`,
    params: { client_secret: clientSecret, payment_method_data: data },
    as: 'publishable',
  });
  return id;
}

it('A server that is asked to stop completes a payment whose request was answered before its result', async () => {
  const stripe = await startStripe();
  const proxy = await startProxy(stripe.url);
  await syncPlans(createStripe({ secretKey: stripeKeys.secretKey, apiUrl: stripe.url }), createCatalogue(loadPlans()));
  const dataDir = await servers.folder();
  const variables = { ...withoutSandbox(dataDir), ...stripe.environment(), STRIPE_API_URL: proxy.url };
  const server = await servers.start(variables);
  await untilReady(server);
  const member = await addMember(variables);
  const browser = new Browser(server.url);
  await browser.post('/sign-in', { username: member.email, password: member.password });
  expect((await browser.post('/plan-purchase', { act: 'choose', planId: '10' })).status).toBe(303);
  const page = await (await browser.get(address)).text();
  const fields = ['planId', 'dueCents', 'laterCents'].map((name) => [
    name,
    new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '',
  ]);
  const setupIntent = await enterCard(browser, stripe);

  proxy.delay(6_000);
  const answer = await browser.post(address, { ...Object.fromEntries(fields), act: 'save-card', setupIntent });
  expect([answer.status, answer.headers.get('sent-location')]).toEqual([303, '/plan-purchase/10']);
  expect(wordsOf(await (await browser.get('/plan-purchase/10')).text())).toContain('Your payment is being completed');
  server.signal('SIGTERM');
  proxy.delay(0);
  expect(await server.ended).toBe(0);

  const database = await openDatabase({ dataDir });
  const { id, planId } = await database.db.selectFrom('users').select(['id', 'planId']).executeTakeFirstOrThrow();
  const orders = await listOrders(database.db, toUserId(id));
  await database.close();
  expect([planId, orders.map(({ paidCents }) => paidCents)]).toEqual(['10', [9_900]]);
  const { data } = await stripe.client().invoices.list({ limit: 100 });
  expect(data.filter(({ total }) => total > 0).map(({ status }) => status)).toEqual(['paid']);
  await stripe.close();
  await proxy.stop();
}, 120_000);
