import type { User } from '../../server/users/index.ts';
import { dayMs, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { cancelPath, createSteps, fieldsIn, yearWithRefund } from '../billing/year-with-refund-steps.ts';
import { createServers, type ServerProcess, untilReady } from '../journeys/server-process.ts';
import { Browser } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { seededRandom } from './seeded.ts';
import { withoutSandbox } from './without-sandbox.ts';

/** The exchanges with Stripe after the click at which the server is killed: before and after the end is written down. */
const places = [1, 3, 5, 7, 9, 11];

const servers = createServers();
let shop: Shop;
let variables: Record<string, string>;

beforeAll(async () => {
  const PLANS_FILE = plansWith({ consumers: yearWithRefund });
  const fourteenMonthsAgo = () => Date.now() - 425 * dayMs;
  shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE }, { now: fourteenMonthsAgo });
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

/** Cancels at a server that is killed at the nth exchange with Stripe after the click. @returns the announced fields */
async function cancelAtKilled(server: ServerProcess, user: User, nth: number): Promise<Record<string, string>> {
  const browser = new Browser(server.url);
  expect((await browser.post('/sign-in', { username: user.email, password })).status).toBe(303);
  const fields = fieldsIn(await (await browser.get(cancelPath)).text());
  const random = seededRandom(nth);
  seen = 0;
  onExchange = () => {
    seen += 1;
    // Stripe has done its part; the answer may or may not have arrived.
    if (seen === nth) setTimeout(() => server.signal('SIGKILL'), Math.floor(random() * 4));
  };
  const answered = await browser.post(cancelPath, fields).then(
    () => true,
    () => false,
  );
  onExchange = () => {};
  if (answered) server.signal('SIGKILL');
  await server.ended;
  return fields;
}

it(
  'A server that is killed while a year ends on notice gives the announced amount back once, or does nothing',
  async () => {
    const steps = createSteps(shop);
    const members: User[] = [];
    for (const _ of places) members.push(await steps.buyer());
    // The server has the machine's clock: Stripe's own comes to it.
    shop.stripe.engine.advance(Date.now() - shop.stripe.engine.nowMs());
    for (const { id } of members) await shop.membership.refresh(id);
    shop.stripe.observe(() => onExchange());
    const announced: Record<string, string>[] = [];
    let next = servers.start(variables);
    for (const [index, nth] of places.entries()) {
      const server = await next;
      await untilReady(server);
      if (index < places.length - 1) next = servers.start(variables);
      const user = members[index];
      if (user) announced.push(await cancelAtKilled(server, user, nth));
    }
    for (let minute = 0; minute < 3; minute += 1) {
      shop.passTime(10 * 60_000);
      await shop.membership.work();
    }
    const latest = Math.max(...announced.map(({ endsAt }) => Number(endsAt)));
    shop.passTime(latest + 60_000 - shop.stripe.engine.nowMs());
    await shop.membership.work();
    const facts = await Promise.all(
      members.map(async (user, index) => ({
        status: (await shop.membership.refresh(user.id))?.status,
        notes: await steps.notesOf(user),
        refunded: (await steps.ordersOf(user)).map(({ refundedCents }) => refundedCents),
        cents: Number(announced[index]?.refundCents),
      })),
    );
    const ended = facts.filter(({ status }) => status === 'canceled');
    for (const { notes, refunded, cents } of ended) {
      expect(cents).toBeGreaterThan(60_000);
      expect([notes, refunded]).toEqual([[cents], [0, cents]]);
    }
    for (const { status, notes, refunded } of facts.filter((one) => !ended.includes(one)))
      expect([status, notes, refunded]).toEqual(['active', [], [0, 0]]);
    // Without both kinds the test would show nothing.
    expect(ended.length).toBeGreaterThanOrEqual(places.length / 2);
    expect(ended.length).toBeLessThan(places.length);
  },
  60_000 + places.length * 15_000,
);
