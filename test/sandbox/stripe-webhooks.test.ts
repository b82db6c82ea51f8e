import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { listenOnFreePort } from '../support/foyer.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';

interface Received {
  event: Stripe.Event;
  path: string;
}

/** An endpoint that takes what the library says is Stripe's, and answers as it is told. */
async function startEndpoint() {
  const received: Received[] = [];
  const answers: number[] = [];
  const { server, port } = await listenOnFreePort(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const signature = String(req.headers['stripe-signature']);
    const body = Buffer.concat(chunks);
    const event = Stripe.webhooks.constructEvent(body, signature, stripeKeys.webhookSecret) as Stripe.Event;
    received.push({ event, path: req.url ?? '' });
    res.writeHead(answers.shift() ?? 200).end();
  });
  return { url: `http://127.0.0.1:${port}`, received, answers, server };
}

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let standIn: TestStripe;
let stripe: Stripe;
beforeAll(async () => {
  endpoint = await startEndpoint();
  standIn = await startStripe();
  stripe = standIn.client();
});
beforeEach(() => {
  endpoint.received.length = 0;
  standIn.webhooks.mode = 'prompt';
  standIn.tell(endpoint.url);
});
const end = async (server: Server) => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
};
afterAll(async () => {
  await standIn?.close();
  await end(endpoint.server);
});
const types = () => endpoint.received.map(({ event }) => event.type);

describe('webhooks', () => {
  it('Webhooks are sent as they happen, in order, with the data of the request', async () => {
    const customer = await stripe.customers.create({ email: 'a@example.com' }, { idempotencyKey: 'hook' });
    await stripe.customers.update(customer.id, { name: 'Vera' });
    await standIn.webhooks.idle();
    expect(types()).toEqual(['customer.created', 'customer.updated']);
    const [created, updated] = endpoint.received;
    expect(created).toMatchObject({
      path: '/webhooks/stripe',
      event: {
        object: 'event',
        api_version: '2026-10-28.endive',
        request: { id: customer.lastResponse.requestId, idempotency_key: 'hook' },
        data: { object: { id: customer.id, email: 'a@example.com' } },
      },
    });
    expect(updated?.event.data).toMatchObject({ object: { name: 'Vera' }, previous_attributes: { name: null } });
    // What was sent can be read again.
    expect(await stripe.events.retrieve(created?.event.id ?? '')).toEqual(
      expect.objectContaining({ ...created?.event }),
    );
  });

  it('A webhook is repeated until it is accepted, and the next one waits for that', async () => {
    endpoint.answers.push(500, 302);
    await stripe.customers.create({ email: 'b@example.com' });
    await stripe.products.create({ name: 'B' });
    await standIn.webhooks.idle();
    expect(types()).toEqual(['customer.created', 'customer.created', 'customer.created', 'product.created']);
    expect(standIn.webhooks.waiting()).toEqual([]);
  });

  it('Webhooks without a target are not sent', async () => {
    delete standIn.webhooks.target;
    await stripe.customers.create({ email: 'c@example.com' });
    standIn.tell(endpoint.url);
    await standIn.webhooks.idle();
    expect(types()).toEqual([]);
  });

  it('Webhooks are held, shuffled, doubled and dropped on demand', async () => {
    standIn.webhooks.mode = 'held';
    await stripe.customers.create({ email: 'd@example.com' });
    await stripe.products.create({ name: 'D' });
    expect(standIn.webhooks.waiting().map(({ type }) => type)).toEqual(['customer.created', 'product.created']);
    expect(types()).toEqual([]);
    endpoint.answers.push(200, 503);
    const answers = await standIn.webhooks.deliver({ order: (events) => events.toReversed(), twice: true });
    expect(types()).toEqual(['product.created', 'product.created', 'customer.created', 'customer.created']);
    expect(answers.map(({ status }) => status)).toEqual([200, 503, 200, 200]);
    await stripe.products.create({ name: 'E' });
    standIn.webhooks.drop();
    expect(await standIn.webhooks.deliver()).toEqual([]);
  });

  it('Held webhooks are sent when holding ends', async () => {
    standIn.webhooks.mode = 'held';
    await stripe.products.create({ name: 'F' });
    standIn.webhooks.mode = 'prompt';
    await standIn.webhooks.idle();
    expect(types()).toEqual(['product.created']);
  });
});

describe('with a file', () => {
  let folder: string;
  const said: string[] = [];
  beforeEach(() => {
    said.length = 0;
    folder = mkdtempSync(join(tmpdir(), 'stand-in-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const start = () => startStripe({ file: join(folder, 'deep', 'stripe.json'), log: (line) => said.push(line) });

  it('Objects, keys, clock and waiting webhooks survive a restart', async () => {
    const before = await start();
    before.webhooks.mode = 'held';
    const create = (by: TestStripe) =>
      by.client().customers.create({ email: 'g@example.com' }, { idempotencyKey: 'g' });
    const made = await create(before);
    before.engine.advance(3_600_000);
    await before.close();
    const after = await start();
    expect((await create(after)).id).toBe(made.id);
    expect((await after.client().customers.list()).data).toHaveLength(1);
    expect(after.engine.nowMs() - Date.now()).toBeGreaterThan(3_500_000);
    await after.close();
    expect(said).toEqual([]);
  });

  it('The file is written completely soon after a change', async () => {
    const running = await start();
    await running.client().customers.create({ email: 'h@example.com' });
    const read = () => readFileSync(join(folder, 'deep', 'stripe.json'), 'utf8');
    while (!/h@example/.test(await new Promise<string>((resolve) => setTimeout(() => resolve(readOr(read)), 20))));
    expect(() => JSON.parse(read())).not.toThrow();
    await running.close();
  });
  const readOr = (read: () => string) => {
    try {
      return read();
    } catch {
      return '';
    }
  };

  it('A file that cannot be read is moved aside', async () => {
    await (await start()).close();
    const path = join(folder, 'deep', 'stripe.json');
    writeFileSync(path, '{"engine": {"version": 99}');
    const after = await start();
    expect((await after.client().customers.list()).data).toEqual([]);
    await after.close();
    expect(readFileSync(`${path}.unreadable`, 'utf8')).toContain('99');
    expect(said).toEqual([expect.stringContaining('begins anew')]);
  });
});
