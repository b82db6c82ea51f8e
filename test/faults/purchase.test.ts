import { setTimeout as sleep } from 'node:timers/promises';
import type Stripe from 'stripe';
import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, createStripe, listOrders, syncPlans } from '../../server/billing/index.ts';
import { createPasswordHasher } from '../../server/password/index.ts';
import { type Database, openDatabase } from '../../server/store/index.ts';
import { findUser, insertUser, insertUserRecord } from '../../server/users/index.ts';
import { mainForm } from '../billing/checkout/shop.ts';
import { createServers, type ServerProcess, untilReady } from '../journeys/server-process.ts';
import { Browser, locationOf } from '../support/browser.ts';
import { toNormalisedEmail, toUserId } from '../support/ids.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';
import { seededRandom } from './seeded.ts';
import { withoutSandbox } from './without-sandbox.ts';

/** `FOYER_FAULT_SEEDS=300 npm run test:all -- test/faults` has more. */
const seeds = Number(process.env.FOYER_FAULT_SEEDS ?? 20);
/** About the number of exchanges with Stripe in a whole purchase. */
const exchanges = 24;
const password = 'correct horse 9';
const summary = '/signup/verifiedCode';

const servers = createServers();
let stripe: TestStripe;
let api: Stripe;
let database: Database;
let variables: Record<string, string>;
let next: Promise<ServerProcess>;

/** The server that was started in the meantime. Starts the one after it, unless this is the last. */
async function nextServer({ last = false } = {}): Promise<ServerProcess> {
  const server = await next;
  await untilReady(server);
  if (!last) next = servers.start(variables);
  return server;
}

beforeAll(async () => {
  stripe = await startStripe();
  api = stripe.client();
  const client = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: stripe.url });
  await syncPlans(client, createCatalogue(loadPlans()));
  const dataDir = await servers.folder();
  variables = {
    ...withoutSandbox(dataDir),
    CARD_LIMIT_ADDRESS: '100000',
    GUESS_LIMIT_ADDRESS: '100000',
    PASSWORD_LIMIT_DEVICE: '100000',
    PASSWORD_LIMIT_MEMBER: '100000',
    ...stripe.environment(),
  };
  next = servers.start(variables);
  await untilReady(await next);
  database = await openDatabase({ dataDir });
}, 60_000);
afterAll(async () => {
  await servers.end();
  await database?.close();
  await stripe?.close();
});

let hash: Promise<string> | undefined;

/** A user whose address has just been confirmed. */
async function addMember(seed: number): Promise<string> {
  const cost = { memoryCost: 1_024, timeCost: 1, parallelism: 1 };
  hash ??= createPasswordHasher({ queueMax: 1, waitMs: 10_000, cost }).hash(password, 'operator');
  const passwordHash = await hash;
  const email = `seed${seed}@example.com`;
  const { id } = await database.transaction(async (trx) => {
    const user = await insertUser(
      trx,
      {
        email: toNormalisedEmail(email),
        givenName: 'Ada',
        familyName: 'Seed',
        passwordHash,
        emailVerified: true,
        acceptedTosVersion: 1,
      },
      Date.now(),
    );
    await insertUserRecord(trx, user.id, Date.now());
    return user;
  });
  return id;
}

/** The browser's part at Stripe: it confirms the card, and the bank agrees. */
const setupIntentOf = (clientSecret: string) => clientSecret.split('_secret_')[0] ?? '';

function confirmCard({ clientSecret }: { clientSecret: string }): string {
  const card = { number: '4242424242424242', exp_month: 12, exp_year: 2034, cvc: '123' };
  const data = { type: 'card', card, billing_details: { name: 'Ada', address: { postal_code: '10115' } } };
  const id = setupIntentOf(clientSecret);
  const path = `/v1/setup_intents/${id}/confirm`;
  stripe.engine.call({
    method: 'POST',
    path,
    params: { client_secret: clientSecret, payment_method_data: data },
    as: 'publishable',
  });
  return id;
}

/** A page that follows a payment refreshes itself: until the lock of a killed server has expired. */
async function endOfPayment(visit: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const page = await visit();
    if (!page.headers.has('refresh')) return page;
    await sleep(500);
  }
}

/**
 * Runs step 2 like a user who presses the offered button of each page until the page says that all is done.
 * @returns the address of the end
 */
async function goThrough({ url }: ServerProcess, email: string): Promise<string> {
  const browser = new Browser(url);
  const signedIn = await browser.post('/sign-in', { username: email, password });
  if (signedIn.status !== 303) throw new Error(`signing in answered ${signedIn.status}`);
  let address = summary;
  for (let steps = 0; steps < 12; steps += 1) {
    const page = await endOfPayment(() => browser.get(address));
    if (page.status === 303) return locationOf(page);
    const html = await page.text();
    let answer: Response;
    if (new URL(address, url).pathname.endsWith('/addPayment') && !html.includes('4242')) {
      const begun = await browser.postJson(`${address}/setup`, {});
      const setup = (await begun.json()) as { clientSecret: string };
      const fields = Object.fromEntries(
        ['planId', 'dueCents', 'laterCents'].map((name) => [
          name,
          new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '',
        ]),
      );
      answer = await browser.post(address, { ...fields, act: 'save-card', setupIntent: confirmCard(setup) });
    } else if (html.includes('class="plan-card')) {
      answer = await browser.post('/signup/changePlan', { act: 'choose', planId: '10' });
    } else if (html.includes('href="/signup/changePlan"') && !html.includes('class="actions even"')) {
      // The trial: a plan is chosen at the page of the plans.
      address = '/signup/changePlan';
      continue;
    } else {
      const { action, fields } = mainForm(html);
      answer = await browser.post(action, fields);
    }
    if (answer.status !== 303) continue;
    address = locationOf(answer);
    if (address.includes('/signup/completed/')) return address;
  }
  throw new Error('the way does not end');
}

interface Member {
  id: string;
  email: string;
  seed: number;
}

/**
 * Kills the server when each of these users is at about the exchange with Stripe of the user's seed, or a moment after it.
 * @returns the users whose purchases were in progress
 */
async function killedAmong(members: Member[], server: ServerProcess): Promise<Member[]> {
  const places = members.map((member) => {
    const random = seededRandom(member.seed);
    return { member, nth: 1 + Math.floor(random() * exchanges), delayMs: Math.floor(random() * 12) };
  });
  // The purchase that is to get furthest starts first and runs alone until it has its lead over the next.
  places.sort((one, other) => other.nth - one.nth);
  const beginsAt = places.map(({ nth }, index) =>
    places.slice(0, index).reduce((sum, earlier) => sum + earlier.nth - nth, 0),
  );
  const killsAt = places.reduce((sum, { nth }) => sum + nth, 0);
  const from = seen;
  const done = new Set<Member>();
  const through: Promise<void>[] = [];
  let [dead, doomed] = [false, false];
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
  async function go(member: Member): Promise<void> {
    try {
      await goThrough(server, member.email);
      if (!dead) done.add(member);
    } catch (error) {
      // The connection ended with the process.
      await sleep(100);
      if (!dead) return fail(error);
    }
    look();
  }
  function look(): void {
    for (const { member } of places.slice(through.length)) {
      // A purchase with fewer exchanges must not block the others for ever.
      if (seen - from < (beginsAt[through.length] ?? 0) && done.size < through.length) break;
      through.push(go(member));
    }
    if (done.size === places.length) end();
    if (seen - from < killsAt || doomed) return;
    doomed = true;
    // Stripe has done its part; the answer may or may not have arrived.
    setTimeout(() => {
      dead = true;
      server.signal('SIGKILL');
      end();
    }, places[0]?.delayMs);
  }
  onExchange = look;
  look();
  await ended;
  onExchange = () => {};
  const underWay = members.filter((member) => !done.has(member));
  if (!dead) server.signal('SIGKILL');
  await server.ended;
  await Promise.all(through);
  return underWay;
}

let seen = 0;
let onExchange = () => {};

it(
  `After a server is killed anywhere in step 2 (seeds 1 to ${seeds}), no member pays twice or without an order`,
  async () => {
    stripe.observe(() => {
      seen += 1;
      onExchange();
    });
    const members: Member[] = [];
    const underWay: Member[] = [];
    for (let seed = 1; seed <= seeds; seed += 1) {
      members.push({ id: await addMember(seed), email: `seed${seed}@example.com`, seed });
    }
    // The start of a server takes longer than some purchases, so each kill meets four of them.
    for (let first = 0; first < seeds; first += 4) {
      underWay.push(...(await killedAmong(members.slice(first, first + 4), await nextServer())));
    }
    // Without such kills the test would show nothing.
    expect(underWay.length).toBeGreaterThan(seeds / 2);
    const last = await nextServer({ last: true });
    const wrong: unknown[] = [];
    for (const { id, email, seed } of members) {
      const end = await goThrough(last, email).catch(String);
      const [user, orders, customers] = await Promise.all([
        findUser(database.db, toUserId(id)),
        listOrders(database.db, toUserId(id)),
        api.customers.list({ email }),
      ]);
      const invoices = (
        await Promise.all(customers.data.map(({ id: customer }) => api.invoices.list({ customer, limit: 100 })))
      ).flatMap(({ data }) => data.filter(({ total }) => total > 0));
      const facts = {
        end: /\/(completed\/m-99|search)$/.test(end),
        customers: customers.data.length,
        plan: user?.planId,
        invoices: invoices.map(({ status, amount_paid: paid }) => `${status} ${paid}`),
        orders: orders.map(({ paidCents }) => paidCents),
      };
      try {
        expect(facts).toEqual({ end: true, customers: 1, plan: '10', invoices: ['paid 9900'], orders: [9_900] });
      } catch {
        wrong.push({ ...facts, seed, end });
      }
    }
    expect(wrong).toEqual([]);
  },
  60_000 + seeds * 15_000,
);
