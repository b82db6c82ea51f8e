import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { answerOf, pressButton } from '../federation/steps.ts';
import { startSendGrid } from '../messages/stand-in-sendgrid.ts';
import { startSmtp } from '../messages/stand-in-smtp.ts';
import { startTwilio } from '../messages/stand-in-twilio.ts';
import { Browser, locationOf } from '../support/browser.ts';
import { makeCertificate } from '../support/certificate.ts';
import { type ConnectProxy, startConnectProxy } from '../support/connect-proxy.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { freePort } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { createServers, doctorFindings, untilReady } from './server-process.ts';

const dayMs = 24 * 60 * 60_000;
/** Names that no name server knows: without the proxy nothing gets there. */
const names = ['app', 'google', 'mail', 'sendgrid', 'stripe', 'twilio'].map((name) => `${name}.foyer.test`);
const certificate = makeCertificate(names, Date.now() - dayMs, Date.now() + dayMs);
const account = { accountSid: `AC${'1'.repeat(32)}`, authToken: 'twilio-auth-token' };
const sendGridKey = 'SG.key-of-tests';

const servers = createServers();
const closers: (() => Promise<unknown>)[] = [];
let providers: TestProviders;
let smtp: Awaited<ReturnType<typeof startSmtp>>;
let sendGrid: Awaited<ReturnType<typeof startSendGrid>>;
let twilio: Awaited<ReturnType<typeof startTwilio>>;
const logoutTokens: string[] = [];
let stripeCalls = 0;
let proxy: ConnectProxy;
/** For each program: the authority of the stand-ins. */
let trusted: { NODE_EXTRA_CA_CERTS: string };
let mine: Record<string, string>;

async function listening(listener: RequestListener, host = '127.0.0.1'): Promise<number> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  closers.push(
    async () => server.closeAllConnections(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  return (server.address() as AddressInfo).port;
}
const portOf = (url: string) => Number(new URL(url).port);

beforeAll(async () => {
  [providers, smtp, sendGrid, twilio] = await Promise.all([
    startProviders(),
    startSmtp(),
    startSendGrid(sendGridKey),
    startTwilio(account),
  ]);
  const appPort = await listening(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    logoutTokens.push(new URLSearchParams(body).get('logout_token') ?? '');
    res.writeHead(200).end();
  });
  const stripePort = await listening((_req, res) => {
    stripeCalls += 1;
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[],"has_more":false}');
  });
  proxy = await startConnectProxy({
    certificate,
    ports: {
      'app.foyer.test:443': appPort,
      'google.foyer.test:443': portOf(providers.url),
      'mail.foyer.test:465': smtp.port,
      'sendgrid.foyer.test:443': portOf(sendGrid.url),
      'stripe.foyer.test:443': stripePort,
      'twilio.foyer.test:443': portOf(twilio.url),
      'twilio.foyer.test:80': portOf(twilio.url),
    },
  });
  const file = join(await servers.folder(), 'ca.pem');
  await writeFile(file, certificate.cert);
  trusted = { NODE_EXTRA_CA_CERTS: file };
  mine = {
    ...trusted,
    NODE_ENV: 'development',
    SANDBOX: 'false',
    SECRET_KEY: 'one of the secrets that only tests know',
    SEARCH_APP_URL: 'http://localhost:9/search',
    HTTPS_PROXY: `http://operator:p%40ss-word@${proxy.host}`,
  };
});
beforeEach(() => {
  proxy.asked.length = 0;
  proxy.credentials.length = 0;
  proxy.status = 200;
});
// A server goes on sending mails: those would be counted as calls of the next test.
afterEach(() => servers.endProcesses());
afterAll(async () => {
  await servers.end();
  await Promise.all([proxy, providers, smtp, sendGrid, twilio].map((each) => each.close()));
  for (const close of closers) await close();
});

const dist = join(import.meta.dirname, '..', '..', 'dist', 'server', 'cli', 'main.js');

/** Runs the operator's command with these variables alone. */
async function foyer(variables: Record<string, string>, ...words: string[]) {
  const { PATH = '' } = process.env;
  const env = { PATH, DATA_DIR: await servers.folder(), ...variables };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [dist, ...words], { env });
    return { code: 0, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, text: stdout + stderr };
  }
}

it('A sign-in by Google, a mail by SMTP and a logout token go through the proxy, the only way to their hosts', async () => {
  const DATA_DIR = await servers.folder();
  const { GOOGLE_CLIENT_ID = '', GOOGLE_CLIENT_SECRET = '' } = providers.environment();
  const server = await servers.start({
    ...mine,
    DATA_DIR,
    GOOGLE_CLIENT_ID,
    GOOGLE_CLIENT_SECRET,
    GOOGLE_URL: 'https://google.foyer.test',
    SMTP_URL: 'smtps://mail.foyer.test',
    MAIL_FROM: 'Foyer <no-reply@foyer.test>',
  });
  await untilReady(server);
  const member = { email: 'ida@example.com', password: 'nine lives and 1' };
  const redirectUri = 'http://127.0.0.1:9/callback';
  const command = async (...words: string[]) => {
    const run = await foyer({ ...mine, DATA_DIR }, ...words, '--json');
    return JSON.parse(run.text) as { client_secret?: string };
  };
  const [added] = await Promise.all([
    command(
      ...['client', 'add', '--id', 'app', '--name', 'App', '--redirect-uri', redirectUri],
      ...['--backchannel-logout-uri', 'https://app.foyer.test/logout'],
    ),
    command(...['user', 'add', '--email', member.email, '--password', member.password, '--verified', '--accept-terms']),
  ]);
  const client = await relyingParty(server, { id: 'app', secret: String(added?.client_secret), redirectUri });

  const begun = await client.begin();
  const tokens = await client.redeem(await signInFor(new Browser(server.url), begun, member, member.password), begun);
  const second = new Browser(server.url);
  await second.post('/sign-in', { username: member.email, password: member.password });
  await second.post('/settings/devices/sign-out-others');
  await waitFor(() => expect(logoutTokens).toHaveLength(1));
  expect(decodeJwt(logoutTokens[0] ?? '')).toMatchObject({ aud: 'app', sid: tokens.claims()?.sid });

  await new Browser(server.url).post('/forgot-password', { username: member.email });
  await waitFor(() => expect(smtp.received.flatMap(({ to }) => to)).toContain(member.email));

  const visitor = new Browser(server.url);
  const authorization = new URL(await pressButton(visitor, 'google'));
  expect(authorization.origin).toBe('https://google.foyer.test');
  // A browser reaches Google by its own way.
  const page = providers.url + authorization.pathname + authorization.search;
  const callback = await answerOf(providers, 'google', providers.people.google.ada, page);
  const signedIn = await visitor.get(callback, { from: 'cross-site' });
  expect(locationOf(signedIn)).not.toContain('notice');
  expect(providers.exchanges.filter(({ method, status }) => method === 'POST' && status === 200)).toHaveLength(1);

  expect(new Set(proxy.asked)).toEqual(
    new Set(['CONNECT app.foyer.test:443', 'CONNECT google.foyer.test:443', 'CONNECT mail.foyer.test:465']),
  );
  expect(new Set(proxy.credentials)).toEqual(new Set([`Basic ${btoa('operator:p@ss-word')}`]));
}, 60_000);

describe('the operator’s command', () => {
  const mail = { SENDGRID_API_KEY: sendGridKey, SENDGRID_URL: 'https://sendgrid.foyer.test' };
  const text = {
    TWILIO_ACCOUNT_SID: account.accountSid,
    TWILIO_AUTH_TOKEN: account.authToken,
    TWILIO_FROM: '+15557122661',
    TWILIO_URL: 'https://twilio.foyer.test',
  };
  const stripe = {
    STRIPE_SECRET_KEY: 'sk_test_tests',
    STRIPE_PUBLISHABLE_KEY: 'pk_test_tests',
    STRIPE_WEBHOOK_SECRET: 'whsec_tests',
    STRIPE_API_URL: 'https://stripe.foyer.test',
  };

  it('SendGrid, Twilio and Stripe are called through the proxy, and the services’ answers are printed', async () => {
    const sent = await foyer({ ...mine, ...mail }, 'mail', 'send', 'welcome', '--to', 'you@example.com');
    expect(sent).toEqual({ code: 0, text: expect.stringMatching(/202, X-Message-Id: theirs/) });
    const texted = await foyer({ ...mine, ...text }, 'sms', 'send', '--to', '+31612345642');
    expect(texted).toEqual({ code: 0, text: expect.stringMatching(/201, queued as SM0+1/) });
    await foyer({ ...mine, ...stripe }, 'plans', 'check');
    expect(stripeCalls).toBeGreaterThan(0);
    expect(new Set(proxy.asked)).toEqual(
      new Set(['CONNECT sendgrid.foyer.test:443', 'CONNECT twilio.foyer.test:443', 'CONNECT stripe.foyer.test:443']),
    );
    expect([sendGrid.faults, twilio.faults]).toEqual([[], []]);
  }, 60_000);

  it('Without the proxy, and for a host of NO_PROXY, the call goes directly and finds no such host', async () => {
    const { HTTPS_PROXY: _, ...direct } = mine;
    for (const variables of [direct, { ...mine, NO_PROXY: 'example.com, .foyer.test' }, { ...mine, no_proxy: '*' }]) {
      const sent = await foyer({ ...variables, ...mail }, 'mail', 'send', 'welcome', '--to', 'you@example.com');
      expect(sent).toEqual({ code: 4, text: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) });
      const texted = await foyer({ ...variables, ...text }, 'sms', 'send', '--to', '+31612345642');
      expect(texted).toEqual({ code: 4, text: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) });
      const smtpUrl = { SMTP_URL: 'smtps://mail.foyer.test' };
      const mailed = await foyer({ ...variables, ...smtpUrl }, 'mail', 'send', 'welcome', '--to', 'you@example.com');
      expect(mailed).toEqual({ code: 4, text: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) });
    }
    expect(proxy.asked).toEqual([]);
  }, 60_000);

  it('The names in small letters count, http:// goes by HTTP_PROXY, and this machine is called directly', async () => {
    const { HTTPS_PROXY: address = '', ...direct } = mine;
    const small = { ...direct, https_proxy: address, http_proxy: address };
    const plain = { ...text, TWILIO_URL: 'http://twilio.foyer.test' };
    expect((await foyer({ ...small, ...plain }, 'sms', 'send', '--to', '+31612345642')).code).toBe(0);
    expect(proxy.asked).toEqual(['CONNECT twilio.foyer.test:80']);
    const local = { ...text, TWILIO_URL: twilio.url };
    expect((await foyer({ ...small, ...local }, 'sms', 'send', '--to', '+31612345642')).code).toBe(0);
    expect(proxy.asked).toHaveLength(1);
  }, 60_000);
});

describe('foyer doctor on the outgoing proxy', () => {
  const smtpUrl = { SMTP_URL: 'smtps://mail.foyer.test' };
  const look = async (variables: Record<string, string>) => {
    const found = await doctorFindings({ ...mine, ...smtpUrl, DATA_DIR: await servers.folder(), ...variables });
    expect(JSON.stringify(found)).not.toMatch(/p%40ss-word|p@ss-word/);
    return found.filter(({ area, id }) => area === 'outgoing' || id === 'messages.smtp');
  };
  const brief = (found: Awaited<ReturnType<typeof look>>) =>
    found.map(({ id, level, seen }) => `${level} ${id}: ${seen}`);

  it('A proxy that answers is named with the service that it reaches', async () => {
    expect(brief(await look({}))).toEqual([
      `ok outgoing.proxy: mail.foyer.test:465 is reached through the proxy ${proxy.host}.`,
      expect.stringMatching(/^ok messages\.smtp/),
    ]);
  }, 30_000);

  it.each([
    [407, /^fault outgoing\.proxy: The proxy \S+ does not accept the credentials\.$/],
    [403, /^fault outgoing\.proxy: The proxy \S+ does not connect to mail\.foyer\.test:465: status 403\.$/],
  ])(
    'A proxy that answers CONNECT with %s is a fault with a remedy',
    async (status, says) => {
      proxy.status = status;
      const found = await look({});
      expect(brief(found)[0]).toMatch(says);
      expect(found[0]?.todo).toMatch(/HTTPS_PROXY|NO_PROXY/);
      expect(found[1]).toMatchObject({ id: 'messages.smtp', level: 'fault' });
    },
    30_000,
  );

  it('A proxy that is away is one fault, and a network in NO_PROXY a note', async () => {
    const away = { HTTPS_PROXY: `http://127.0.0.1:${await freePort()}`, NO_PROXY: '10.0.0.0/8' };
    const found = (await look(away)).filter(({ area }) => area === 'outgoing');
    expect(brief(found)).toEqual([
      expect.stringMatching(/^fault outgoing\.proxy: The proxy 127\.0\.0\.1:\d+ does not answer: .*ECONNREFUSED/),
      'note outgoing.no-proxy: NO_PROXY names 10.0.0.0/8, which has no effect.',
    ]);
  }, 30_000);

  it('A host of NO_PROXY is named as one that is called directly', async () => {
    const found = (await look({ NO_PROXY: 'foyer.test' })).filter(({ area }) => area === 'outgoing');
    expect(brief(found)).toContain('ok outgoing.direct: NO_PROXY: mail.foyer.test:465 is called directly.');
  }, 30_000);
});
