import { diffWithStripe, listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { manyCards, type Shop, startShop } from '../billing/steps.ts';
import { createServers, type ServerProcess, untilReady } from '../journeys/server-process.ts';
import { Browser } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { seededRandom } from './seeded.ts';
import { withoutSandbox } from './without-sandbox.ts';

const path = '/settings/membership/cancel';
/** The exchanges with Stripe after the click at which the server is killed: before the act is written, and in each of its parts. */
const places = [1, 3, 5, 7, 9, 11, 13, 15];

const servers = createServers();
let shop: Shop;
let variables: Record<string, string>;

beforeAll(async () => {
  const PLANS_FILE = plansWith({ periods: 'days', cancel: 'prorated' });
  shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE });
  const { databaseUrl, redisUrl, dataDir } = shop.foyer.stores.urls;
  variables = {
    ...withoutSandbox(dataDir),
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    ...(redisUrl && { REDIS_URL: redisUrl }),
    PLANS_FILE,
    ...shop.stripe.environment(),
  };
}, 60_000);
afterAll(async () => {
  await servers.end();
  await shop?.close();
});

let seen = 0;
let onExchange = () => {};

/** Cancels at a server that is killed at the nth exchange with Stripe after the click. @returns the announced cents */
async function cancelAtKilled(server: ServerProcess, user: User, nth: number): Promise<number> {
  const browser = new Browser(server.url);
  expect((await browser.post('/sign-in', { username: user.email, password })).status).toBe(303);
  const html = await (await browser.get(path)).text();
  const form = /<form class="form".*?<\/form>/s.exec(html)?.[0] ?? '';
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
  const random = seededRandom(nth);
  seen = 0;
  onExchange = () => {
    seen += 1;
    // Stripe has done its part; the answer may or may not have arrived.
    if (seen === nth) setTimeout(() => server.signal('SIGKILL'), Math.floor(random() * 4));
  };
  const answered = await browser.post(path, fields).then(
    () => true,
    () => false,
  );
  onExchange = () => {};
  if (answered) server.signal('SIGKILL');
  await server.ended;
  return Number(fields.refundCents);
}

it(
  'A server that is killed while a plan ends with a refund gives the announced amount back once, or does nothing',
  async () => {
    const members: User[] = [];
    for (const _ of places) {
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
      members.push(user);
    }
    shop.stripe.observe(() => onExchange());
    const announced: number[] = [];
    let next = servers.start(variables);
    for (const [index, nth] of places.entries()) {
      const server = await next;
      await untilReady(server);
      if (index < places.length - 1) next = servers.start(variables);
      const user = members[index];
      if (user) announced.push(await cancelAtKilled(server, user, nth));
    }
    for (let hour = 0; hour < 3; hour += 1) {
      shop.passTime(61 * 60_000);
      await shop.membership.work();
    }
    const facts = await Promise.all(
      members.map(async (user, index) => {
        const membership = await shop.membership.refresh(user.id);
        const customer = membership?.customerId ?? '';
        const { data } = await shop.stripe.client().creditNotes.list({ customer });
        const orders = await listOrders(shop.foyer.deps.database.db, user.id);
        return {
          status: membership?.status,
          notes: data.map(({ total }) => total),
          refunded: orders.map(({ refundedCents }) => refundedCents),
          announced: announced[index] ?? 0,
        };
      }),
    );
    const ended = facts.filter(({ status }) => status === 'canceled');
    for (const { notes, refunded, announced: cents } of ended) expect([notes, refunded]).toEqual([[cents], [cents]]);
    for (const { status, notes, refunded } of facts.filter((one) => !ended.includes(one)))
      expect([status, notes, refunded]).toEqual(['active', [], [0]]);
    // Without both kinds the test would show nothing.
    expect(ended.length).toBeGreaterThan(places.length / 2);
    expect(ended.length).toBeLessThan(places.length);
    expect((await diffWithStripe(shop.membership.deps, { pauseMs: 0 })).left).toEqual([]);
  },
  60_000 + places.length * 15_000,
);
