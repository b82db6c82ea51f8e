/** The process of the stand-in for Stripe and of the members who buy a plan. */
import { writeFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type * as StandInModule from '../../../sandbox/stripe/index.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { built } from '../built.ts';
import { serve } from '../rpc.ts';
import { memberEmail, password } from '../setting.ts';
import { openBrowser, type VisitorsBrowser } from './browsing.ts';
import { type Answer, type Connections, connect, expect, runCounted } from './connections.ts';

const dayMs = 24 * 60 * 60_000;
const keys = {
  STRIPE_SECRET_KEY: 'sk_test_of_the_bench',
  STRIPE_PUBLISHABLE_KEY: 'pk_test_of_the_bench',
  STRIPE_WEBHOOK_SECRET: 'whsec_of_the_bench',
};

let standIn: StandInModule.StripeStandIn | undefined;
let connections: Connections | undefined;
let requests = 0;

/** Starts the stand-in, with TLS as production demands. @returns the settings of a Foyer that uses it */
async function open({ folder }: { folder: string }): Promise<Record<string, string>> {
  const { createStripeStandIn } = await built<typeof StandInModule>('sandbox/stripe/index');
  const certificate = makeCertificate(['localhost'], Date.now() - dayMs, Date.now() + dayMs);
  const server = createServer(certificate);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_PUBLISHABLE_KEY: publishableKey } = keys;
  standIn = createStripeStandIn({ secretKey, publishableKey, origin, now: Date.now });
  standIn.observe(({ as }) => {
    if (as !== 'publishable') requests += 1;
  });
  server.on('request', standIn.listener);
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, certificate.cert);
  return { ...keys, STRIPE_API_URL: origin, STRIPE_JS_URL: `${origin}/stripe.js`, NODE_EXTRA_CA_CERTS: authority };
}

interface CardForm {
  action: string;
  fields: Record<string, string>;
  setupUrl: string;
}

const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&amp;', '&');

function cardForm(page: Answer): CardForm {
  const form = /<form [^>]*id="pay".*?<\/form>/s.exec(page.text)?.[0] ?? '';
  const props = /data-island="card-form"[^>]* data-props="([^"]*)"/.exec(form)?.[1];
  const action = / action="([^"]*)"/.exec(form)?.[1];
  if (props === undefined || action === undefined) throw new Error('the page has no card form');
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const { setupUrl }: { setupUrl: string } = JSON.parse(unescaped(props));
  return {
    action: unescaped(action),
    fields: Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescaped(value)])),
    setupUrl,
  };
}

/** Does what Stripe.js does with a card that was typed. @returns the setup intent's id */
function confirmCard(begun: Answer): string {
  const { clientSecret }: { clientSecret: string } = JSON.parse(begun.text);
  const [id = ''] = clientSecret.split('_secret_');
  const card = { number: '4242424242424242', exp_month: 12, exp_year: new Date().getUTCFullYear() + 4, cvc: '123' };
  const data = { type: 'card', card, billing_details: { name: 'Ada Member', address: { postal_code: '10115' } } };
  const params = { client_secret: clientSecret, payment_method_data: data };
  standIn?.engine.call({ method: 'POST', path: `/v1/setup_intents/${id}/confirm`, params, as: 'publishable' });
  return id;
}

const browsers: VisitorsBrowser[] = [];

/** From the page of the plan to the thanks for the payment, with a new card. */
async function buy(browser: VisitorsBrowser): Promise<void> {
  expect(await browser.get('/plan-purchase/10'), 200, 'the page of the plan');
  const page = await browser.get('/plan-purchase/10/addPayment');
  expect(page, 200, 'the page of the payment');
  const { action, fields, setupUrl } = cardForm(page);
  const begun = await browser.postJson(setupUrl, {});
  expect(begun, 200, 'the setup of a card');
  const paid = await browser.post(action, { ...fields, setupIntent: confirmCard(begun) });
  expect(paid, 303, 'the payment');
  if (!String(paid.headers.location).startsWith('/signup/completed/'))
    throw new Error(`the payment led to ${String(paid.headers.location)}`);
}

/** Sends Stripe's events on to Foyer, as the proxy before it does. */
async function takeEvents(foyer: Connections): Promise<void> {
  const proxy = createProxy(async (req, res) => {
    const body = await text(req);
    const signature = String(req.headers['stripe-signature']);
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    const answer = await foyer.send('POST', '/webhooks/stripe', headers, body);
    res.writeHead(answer.status).end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  if (!standIn) return;
  standIn.webhooks.target = { url: `http://127.0.0.1:${port}/`, secret: keys.STRIPE_WEBHOOK_SECRET };
  // So that the requests of a purchase and those about its events are told apart.
  standIn.webhooks.mode = 'held';
}

const handlers = {
  open,
  /** Members sign in. Stripe's events are sent to the same port. */
  async signIn({ port, count, atOnce }: { port: number; count: number; atOnce: number }): Promise<void> {
    connections = connect(port, atOnce);
    const own = connections;
    await takeEvents(own);
    await runCounted(count, atOnce, async (index) => {
      const browser = openBrowser(own);
      expect(await browser.post('/sign-in', { username: memberEmail(index), password }), 303, 'the sign-in');
      browsers.push(browser);
    });
  },
  /** The next members buy. @returns milliseconds, and the requests of Foyer to Stripe meanwhile */
  async buy({ count, atOnce }: { count: number; atOnce: number }): Promise<{ ms: number; requests: number }> {
    const before = requests;
    const ms = await runCounted(count, atOnce, async () => {
      const browser = browsers.shift();
      if (!browser) throw new Error('there is no member left');
      await buy(browser);
    });
    return { ms, requests: requests - before };
  },
  /** Stripe's events about them arrive. @returns how many, and the requests of Foyer to Stripe meanwhile */
  async deliverEvents(): Promise<{ events: number; requests: number }> {
    const before = requests;
    const delivered = (await standIn?.webhooks.deliver()) ?? [];
    const refused = delivered.filter(({ status }) => status !== 200);
    if (refused.length > 0) throw new Error(`${refused.length} of ${delivered.length} events were refused`);
    return { events: delivered.length, requests: requests - before };
  },
};
export type PurchasesGenerator = typeof handlers;
serve(handlers);
