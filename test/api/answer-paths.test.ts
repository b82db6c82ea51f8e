import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aBuyer, asClient, type Buyer } from '../billing/api-steps.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { makePromotionCode, promotionCode } from './examples.ts';

interface Asked {
  shop: Shop;
  buyer: Buyer;
  invoice: string;
}

/** One value that section 7 of the specification reads, by the paths that reach it. */
interface Row {
  /** As docs/json-api.md writes the call. */
  call: string;
  ask(asked: Asked): Promise<unknown>;
  /** Paths from the parsed body. */
  body: string[];
  /** Paths from the response object of axios, whose `data` is the parsed body. */
  axios: string[];
  value(asked: Asked): unknown;
}

const listed = ({ buyer }: Asked) => buyer.call('POST', '/user/listUserWithPoolId', {});
const starterId = '10';

const rows: Row[] = [
  {
    call: '`GET /clients`',
    ask: ({ buyer }) => buyer.call('GET', '/clients'),
    body: ['[0].client_id'],
    axios: ['data[0].client_id'],
    value: () => 'shelf',
  },
  {
    call: '`GET /verifyClient`',
    ask: ({ buyer }) =>
      buyer.call('GET', `/verifyClient?client_id=shelf&logout_uri=${encodeURIComponent('http://127.0.0.1:9/out')}`),
    body: ['valid'],
    axios: ['data.valid'],
    value: () => true,
  },
  {
    call: '`POST /user/listUserWithPoolId`',
    ask: listed,
    body: ['data.Items[0].planId', 'data.data.Items[0].planId'],
    axios: ['data.data.Items[0].planId', 'data.data.data.Items[0].planId'],
    value: () => starterId,
  },
  {
    call: '`POST /user/listPlans`',
    ask: ({ buyer }) => buyer.call('POST', '/user/listPlans', { tableName: 'plans' }),
    body: ['data.Items[0].id', 'Items[0].id'],
    axios: ['data.data.Items[0].id', 'data.Items[0].id'],
    // The cheapest.
    value: () => '1',
  },
  {
    call: '`POST /user/listplanWithHash`',
    ask: ({ buyer }) => buyer.call('POST', '/user/listplanWithHash', { planHash: 'starter-monthly' }),
    body: ['data.Items[0].id', 'Items[0].id'],
    axios: ['data.data.Items[0].id', 'data.Items[0].id'],
    value: () => starterId,
  },
  {
    call: '`POST /user/listplanWithId`',
    ask: ({ buyer }) => buyer.call('POST', '/user/listplanWithId', { planId: starterId }),
    body: ['data.Items[0].planAmount', 'Items[0].planAmount'],
    axios: ['data.data.Items[0].planAmount', 'data.Items[0].planAmount'],
    value: () => 99,
  },
  {
    call: '`GET /customer/coupons/{code}`',
    ask: ({ buyer }) => buyer.call('GET', `/customer/coupons/${promotionCode}`),
    body: ['data.percent_off_precise', 'percent_off_precise'],
    axios: ['data.data.percent_off_precise', 'data.percent_off_precise'],
    value: () => 20,
  },
  {
    call: '`POST /item/appsumo/checkSignupFromAppsumo`',
    ask: ({ buyer }) => buyer.call('POST', '/item/appsumo/checkSignupFromAppsumo', { email: 'ada@example.com' }),
    body: ['exist'],
    axios: ['data.exist'],
    value: () => false,
  },
  {
    call: '`GET /customer/{stripeCustomerId}`',
    ask: ({ buyer }) => buyer.call('GET', `/customer/${buyer.customer}`),
    body: ['subscription[0].subscription_id'],
    axios: ['data.subscription[0].subscription_id'],
    value: ({ buyer }) => buyer.subscription,
  },
  {
    call: '`POST /customer/`',
    ask: ({ buyer }) => buyer.call('POST', '/customer/', [{ email: buyer.user.email }]),
    body: ['customer_id'],
    axios: ['data.customer_id'],
    value: ({ buyer }) => buyer.customer,
  },
  {
    call: '`POST /customer/{stripeCustomerId}/paymenttypes/`',
    async ask({ shop, buyer }) {
      const source = await shop.confirmCard(buyer.user);
      return buyer.call('POST', `/customer/${buyer.customer}/paymenttypes/`, { source });
    },
    body: ['data[0].last4'],
    axios: ['data.data[0].last4'],
    value: () => '4242',
  },
  {
    call: '`POST /customer/{stripeCustomerId}/subscription/{subscriptionId}`',
    // The plan that was bought already: a lost answer is given again.
    ask: ({ buyer }) => buyer.call('POST', buyer.path, { plan_name: 'm-99', amount: '99.00' }),
    body: ['stripe_invoice_id'],
    axios: ['data.stripe_invoice_id'],
    value: ({ invoice }) => invoice,
  },
  {
    call: '`POST /user/orderCreation`',
    ask: ({ buyer, invoice }) => buyer.call('POST', '/user/orderCreation', { invoiceId: invoice }),
    body: ['data.totalAmountPaid'],
    axios: ['data.data.totalAmountPaid'],
    value: () => '99.00',
  },
  {
    call: '`POST /user/updateUser`',
    async ask(asked) {
      const { body } = await listed(asked);
      const [record] = (body as unknown as { data: { Items: { id: string }[] } }).data.Items;
      return asked.buyer.call('POST', '/user/updateUser', { id: record?.id, planId: starterId, source: 'general' });
    },
    body: ['data.planId'],
    axios: ['data.data.planId'],
    value: () => starterId,
  },
  {
    call: '`POST /user/signup/plan`',
    ask: ({ buyer }) => buyer.call('POST', '/user/signup/plan', { about: 'I read.' }),
    body: ['data.about'],
    axios: ['data.data.about'],
    value: () => 'I read.',
  },
  {
    call: '`POST /graphql`',
    ask: ({ buyer }) => buyer.call('POST', '/graphql', { query: '{listUsers {items {userId}}}' }),
    body: ['data.listUsers.items[0].userId'],
    axios: ['data.data.listUsers.items[0].userId'],
    value: ({ buyer }) => buyer.user.id,
  },
  {
    call: '`POST /message/sent`',
    ask: ({ buyer }) => buyer.call('POST', '/message/sent', { title: 'Hello', description: '', category: 'task' }),
    body: ['status'],
    axios: ['data.status'],
    value: () => 'unread',
  },
  {
    call: '`POST /sentEmail`',
    async ask({ shop, buyer }) {
      const call = await asClient(shop, 'messages:send');
      return call('POST', '/sentEmail', { emailAddress: buyer.user.email, action: 'password' });
    },
    body: ['status'],
    axios: ['data.status'],
    value: () => 'accepted',
  },
];

/** The value at a path, as a caller's JavaScript reads it; undefined where a step is missing. */
const read = (from: unknown, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], from);

describe.each(backends)('where callers find what a call answers, on $name', (backend) => {
  let asked: Asked;
  beforeAll(async () => {
    const shop = await startShop(backend, { CARD_LIMIT_ADDRESS: '100000' });
    await makePromotionCode(shop);
    await shop.foyer.addClient({ id: 'shelf', logoutUris: ['http://127.0.0.1:9/out'] });
    const buyer = await aBuyer(shop);
    const bought = await shop.buy(buyer.user, 'm-99');
    if (bought.kind !== 'paid' || !bought.order) throw new Error(`not bought: ${bought.kind}`);
    // The price that the subscription has now is known after Stripe's event.
    await shop.membership.refresh(toUserId(buyer.user.id));
    asked = { shop, buyer, invoice: bought.order.invoiceId };
  });
  afterAll(() => asked?.shop.close());

  it.each(rows)('$call answers under the paths that the specification reads', async (row) => {
    const answer = (await row.ask(asked)) as { status: number; body: unknown };
    expect(answer.status).toBe(200);
    // As a caller parses it.
    const body: unknown = JSON.parse(JSON.stringify(answer.body));
    const response = { status: answer.status, data: body };
    const expected = row.value(asked);
    expect(expected).toBeDefined();
    expect(row.body.map((path) => [path, read(body, path)])).toEqual(row.body.map((path) => [path, expected]));
    expect(row.axios.map((path) => [path, read(response, path)])).toEqual(row.axios.map((path) => [path, expected]));
  });
});

describe('the table of answers in docs/json-api.md', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'json-api.md'), 'utf8').split('\n');

  it.each(rows)('The table has the paths of $call', ({ call, body, axios }) => {
    const line = page.find((one) => one.startsWith(`| ${call} | \``) && one.split('|').length === 5) ?? '';
    const cells = line.split('|').map((cell) => cell.trim());
    expect(body.filter((path) => !cells[2]?.includes(`\`${path}\``))).toEqual([]);
    expect(axios.filter((path) => !cells[3]?.includes(`\`${path}\``))).toEqual([]);
  });
});
