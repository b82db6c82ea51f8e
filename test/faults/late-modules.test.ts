import { rename, rm } from 'node:fs/promises';
import type { RequestListener, Server } from 'node:http';
import { join } from 'node:path';
import { addMember, createServers, type ServerProcess, untilReady } from '../journeys/server-process.ts';
import { Browser } from '../support/browser.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { until } from '../support/workers.ts';
import { type CopiedBuild, copyBuild } from './copied-build.ts';

const servers = createServers();
let build: CopiedBuild;
/** How often the stand-in for Stripe was asked; it refuses every call. */
let stripeCalls = 0;
const answerAsStripe: RequestListener = (_req, res) => {
  stripeCalls += 1;
  res.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"type":"invalid_request_error"}}');
};
let stripe: Server;
let variables: Record<string, string>;

beforeAll(async () => {
  build = await copyBuild();
  const listening = await listenOnFreePort(answerAsStripe);
  stripe = listening.server;
  variables = {
    NODE_ENV: 'test',
    SANDBOX: 'false',
    LOG_LEVEL: 'debug',
    SEARCH_APP_URL: 'http://127.0.0.1:9/',
    SECRET_KEY: 'a secret key that is used by tests alone',
    STRIPE_SECRET_KEY: 'sk_test_of_a_test',
    STRIPE_PUBLISHABLE_KEY: 'pk_test_of_a_test',
    STRIPE_WEBHOOK_SECRET: 'whsec_of_a_test',
    STRIPE_API_URL: `http://127.0.0.1:${listening.port}`,
    TWILIO_ACCOUNT_SID: `AC${'1'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: 'a token that no service knows',
    TWILIO_FROM: '+15005550006',
    TWILIO_URL: 'http://127.0.0.1:9/',
  };
});
afterAll(async () => {
  await servers.end();
  stripe.close();
  await build.remove();
});

async function start(): Promise<{ server: ServerProcess; browser: Browser }> {
  const environment = { ...variables, DATA_DIR: await servers.folder() };
  const server = await servers.start(environment, { build: join(build.root, 'dist') });
  await untilReady(server);
  const { email, password } = await addMember(environment);
  const browser = new Browser(server.url);
  expect((await browser.post('/sign-in', { username: email, password })).status).toBe(303);
  await until('the modules are loaded', () => server.stdout().includes('all modules are loaded'));
  return { server, browser };
}

/** Requests that need each of the modules: their statuses, and whether Stripe was asked. */
async function requestAll(browser: Browser) {
  const before = stripeCalls;
  const statuses = {
    graphql: (await browser.postJson('/graphql', { query: '{listUsers {items {id}}}' })).status,
    number: (await browser.postJson('/identity/changePhone', { phone_number: '+31612345642' })).status,
    passkeys: (await browser.get('/settings/passkeys/add')).status,
  };
  await browser.get('/customer/coupons/NONE');
  return { ...statuses, stripe: stripeCalls > before };
}

const working = { graphql: 200, number: 200, passkeys: 200, stripe: true };

it('A running server needs no file of its build any more a second after its start', async () => {
  const { server, browser } = await start();
  const [run, away] = [join(build.root, 'dist/run'), join(build.root, 'away')];
  await rename(run, away);
  try {
    expect(await requestAll(browser)).toEqual(working);
  } finally {
    await rename(away, run);
  }
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
}, 60_000);

it('A module whose file was missing at its first use is loaded as soon as the file is back', async () => {
  const late = ['graphql-engine', 'max', 'esm', 'stripe.esm.node'].map((name) => join(build.modules, `${name}.mjs`));
  for (const file of late) await rename(file, `${file}.away`);
  const { server, browser } = await start();
  expect(server.stdout().match(/could not load a module/g)).toHaveLength(late.length);
  const failing = { graphql: 500, number: 500, passkeys: 500, stripe: false };
  expect(await requestAll(browser)).toEqual(failing);
  // A failure must not be the only answer from then on.
  expect(await requestAll(browser)).toEqual(failing);
  for (const file of late) await rename(`${file}.away`, file);
  expect(await requestAll(browser)).toEqual(working);
  for (const file of late) await rm(file);
  expect(await requestAll(browser)).toEqual(working);
}, 60_000);
