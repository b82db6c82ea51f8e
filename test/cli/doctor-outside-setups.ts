import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkAddress } from '../../server/cli/doctor/address.ts';
import {
  judgeClient,
  judgeDiscovery,
  judgeHeaders,
  judgeHealth,
  judgeHsts,
  judgeRedirect,
  judgeTls,
} from '../../server/cli/doctor/checks-address.ts';
import { judgePlans, judgeProviders } from '../../server/cli/doctor/checks-services.ts';
import { checkDatabase } from '../../server/cli/doctor/database.ts';
import type { Finding } from '../../server/cli/doctor/finding.ts';
import { checkKeyValue } from '../../server/cli/doctor/key-value.ts';
import { checkMessages } from '../../server/cli/doctor/messages.ts';
import { checkPlans } from '../../server/cli/doctor/plans.ts';
import { checkFederation } from '../../server/cli/doctor/providers.ts';
import { checkProxy } from '../../server/cli/doctor/proxy.ts';
import { readSetup, type Setup } from '../../server/cli/doctor/setup.ts';
import type { ProbeReport } from '../../server/http/index.ts';
import { production } from '../attacks/production.ts';
import type { Cases } from './doctor-setups.ts';

const dayMs = 24 * 60 * 60_000;
const nowMs = Date.UTC(2026, 10, 23, 9);
const site = 'https://login.example.com';
const forged = '192.0.2.66';

const setupOf = (env: NodeJS.ProcessEnv, web: Setup['web'] = {}) => readSetup(env, () => nowMs, web);
const on = (env: NodeJS.ProcessEnv) => setupOf({ ...production, ...env });
/** With a PUBLIC_URL that a production refuses, because nothing here serves TLS. */
const at = (publicUrl: string, keys: string[], env: NodeJS.ProcessEnv = production): Setup => {
  const setup = setupOf(env);
  return { ...setup, config: { ...setup.config, PUBLIC_URL: publicUrl, https: false, SECRET_KEYS: keys } };
};

/** Runs a case beside a server whose answers have this status and this text. */
async function beside(
  answer: (url: string | undefined, count: number) => [status: number, text: string],
  look: (url: string) => Promise<Finding[]>,
): Promise<Finding[]> {
  let count = 0;
  const server = createServer((req, res) => {
    const [status, text] = answer(req.url, count);
    count += 1;
    // The clock of this test stands still.
    const date = new Date(nowMs).toUTCString();
    res.writeHead(status, { 'content-type': 'application/json', date }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await look(url);
  } finally {
    server.close();
  }
}

const report: ProbeReport = {
  host: 'login.example.com',
  forwardedProto: 'https',
  forwardedHost: null,
  protocol: 'https',
  process: 1,
  worker: null,
  forwardedFor: `${forged}, 203.0.113.5`,
  peer: '10.0.0.1',
  client: '203.0.113.5',
};
const answer = (status: number, text = '', headers: Record<string, string> = {}) => ({
  status,
  text,
  headers,
  beforeMs: nowMs,
  afterMs: nowMs,
});
const certificate = {
  host: 'login.example.com',
  validFromMs: nowMs - dayMs,
  validToMs: nowMs + 90 * dayMs,
  wrongName: undefined,
  distrusted: undefined,
  protocol: 'TLSv1.3',
  nowMs,
};
const alive = '{"status":"alive"}';
const stripe = { STRIPE_PUBLISHABLE_KEY: 'pk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };
const mails = { SENDGRID_API_KEY: 'SG.1', SMTP_URL: '' };
const texts = { TWILIO_ACCOUNT_SID: `AC${'1'.repeat(32)}`, TWILIO_AUTH_TOKEN: 'token', TWILIO_FROM: '+15557122661' };
const numbers = [{ phone_number: texts.TWILIO_FROM, capabilities: { sms: true } }];
const services = (url: string) => ({ SENDGRID_URL: url, TWILIO_URL: url, SMS_COUNTRIES: 'DE' });
const records = (found: Record<string, string[]>) => async (name: string) => {
  if (name.startsWith('away.')) throw new Error('no name server');
  const list = found[name];
  if (!list) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
  return list.map((text) => [text]);
};
const sender = (domain: string, found: Record<string, string[]>) => () =>
  checkMessages(setupOf({ ...production, MAIL_FROM: `no-reply@${domain}` }, { resolveTxt: records(found) }));
const good = { spf: 'v=spf1 -all', dkim: 'v=DKIM1; p=MIGf', dmarc: 'v=DMARC1; p=none' };

const messageCases: Cases = {
  'messages of a sandbox': () => checkMessages(setupOf({ NODE_ENV: 'development' })),
  'messages that are accepted': () =>
    beside(
      () => [200, JSON.stringify({ scopes: ['mail.send'], status: 'active', incoming_phone_numbers: numbers })],
      (url) =>
        checkMessages(setupOf({ ...production, ...mails, ...texts, ...services(url) }, { resolveTxt: records({}) })),
    ),
  'messages that are refused': () =>
    beside(
      () => [401, '{}'],
      (url) =>
        checkMessages(setupOf({ ...production, ...mails, ...texts, ...services(url) }, { resolveTxt: records({}) })),
    ),
  'messages that are not answered': sender('example.com', {
    'example.com': [good.spf],
    's1._domainkey.example.com': [good.dkim],
    'k1._domainkey.example.com': [good.dkim],
    '_dmarc.example.com': [good.dmarc],
  }),
  'a sender with two SPF records': sender('mail.example.com', {
    'mail.example.com': [good.spf, good.spf],
    '_dmarc.example.com': [good.dmarc],
  }),
  'a sender without name servers': sender('away.example.com', {}),
};

const serviceCases: Cases = {
  'plans that nobody sells': () => checkPlans(on({})),
  'plans of a sandbox': () => checkPlans(setupOf({ NODE_ENV: 'development' })),
  'plans without their file': () => checkPlans(on({ PLANS_FILE: '/nowhere/plans.json' })),
  'plans in test mode': () =>
    checkPlans(on({ ...stripe, STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_API_URL: 'https://127.0.0.1:9' })),
  'plans in live mode': () =>
    checkPlans(
      setupOf({
        ...stripe,
        NODE_ENV: 'development',
        STRIPE_PUBLISHABLE_KEY: 'pk_live_1',
        STRIPE_SECRET_KEY: 'sk_live_1',
        STRIPE_API_URL: 'http://127.0.0.1:9',
      }),
    ),
  'prices that differ': () =>
    judgePlans({ count: 1, mode: 'test', production: false, graceDays: 7, differing: ['monthly', 'yearly'] }),
  'prices in order': () => judgePlans({ count: 2, mode: 'live', production: true, graceDays: 7 }),
  'no providers': () => checkFederation(on({})),
  'providers without their file': () => checkFederation(on({ PROVIDERS_FILE: '/nowhere/providers.json' })),
  'providers in every state': () =>
    judgeProviders([
      { id: 'good', faults: [], warnings: [] },
      { id: 'bad', faults: ['it is away', 'it is another'], warnings: ['its certificate ends'] },
    ]),
  'a database that is away': () =>
    checkDatabase(on({ DATABASE_URL: 'postgres://u:p@127.0.0.1:9/d' })).then(({ findings }) => findings),
  'a database that cannot be named': () =>
    checkDatabase(on({ DATABASE_URL: 'mysql://d' })).then(({ findings }) => findings),
  'a database that is not there': () =>
    checkDatabase(on({ DATA_DIR: '/nowhere/data' })).then(({ findings }) => findings),
  'a Redis that is away': () => checkKeyValue(on({ REDIS_URL: 'redis://127.0.0.1:9' })),
  'a Redis that cannot be named': () => checkKeyValue(on({ REDIS_URL: 'memcached://r' })),
  'a key-value file that is not there': () => checkKeyValue(on({ DATA_DIR: '/nowhere/data' })),
};

const addressCases: Cases = {
  'a good certificate': () => judgeTls(certificate),
  'an expired certificate': () => judgeTls({ ...certificate, validToMs: nowMs, wrongName: 'another' }),
  'an early certificate': () => judgeTls({ ...certificate, validFromMs: nowMs + 1, distrusted: 'SELF_SIGNED' }),
  'a certificate of a day': () => judgeTls({ ...certificate, validToMs: nowMs + dayMs }),
  'a redirect': () => judgeRedirect(site, answer(301, '', { location: `${site}/x` })),
  'no redirect': () => [
    ...[judgeRedirect(site, 'ECONNREFUSED')].flat(),
    ...[judgeRedirect(site, answer(200))].flat(),
    ...[judgeRedirect(site, answer(302, '', { location: 'https://elsewhere.example.com/' }))].flat(),
  ],
  health: () => [
    ...[judgeHealth(site, answer(200, alive), false)].flat(),
    ...[judgeHealth(site, answer(200), true)].flat(),
    ...[true, false].flatMap((local) =>
      [judgeHealth(site, 'away', local), judgeHealth(site, answer(503), local)].flat(),
    ),
  ],
  discovery: () => [
    ...[judgeDiscovery(site, answer(421))].flat(),
    ...[judgeDiscovery(site, answer(404))].flat(),
    ...[judgeDiscovery(site, answer(200, `{"issuer":"${site}"}`))].flat(),
    ...[judgeDiscovery(site, answer(200, '{"issuer":"other"}'))].flat(),
  ],
  hsts: () => [undefined, 'max-age=300', 'max-age=15552000'].flatMap((header) => judgeHsts(header)),
  'headers of the proxy': () => [
    ...judgeHeaders(report, site),
    ...judgeHeaders({ ...report, forwardedHost: 'inside:3000', forwardedProto: null, protocol: 'http' }, site),
    ...judgeHeaders({ ...report, host: 'inside', forwardedProto: 'ftp', protocol: 'http' }, site),
  ],
  'clients of the proxy': () => [
    ...[judgeClient(report, forged)].flat(),
    ...[judgeClient({ ...report, client: forged }, forged)].flat(),
    ...[judgeClient({ ...report, forwardedFor: null, client: '10.0.0.1' }, forged)].flat(),
    ...[judgeClient({ ...report, forwardedFor: forged, client: '10.0.0.1' }, forged)].flat(),
    ...[judgeClient({ ...report, client: '::ffff:10.0.0.1' }, forged)].flat(),
  ],
  'a server that knows the probe': () =>
    beside(
      () => [200, JSON.stringify({ seen: report })],
      (url) => checkProxy(at(url, ['first'])),
    ),
  'a server that knows an older key': () =>
    beside(
      (_url, count) => [200, count === 0 ? '{}' : JSON.stringify({ seen: report })],
      (url) => checkProxy(at(url, ['first', 'second'])),
    ),
  'a server that knows no key': () =>
    beside(
      () => [200, '{}'],
      (url) => checkProxy(at(url, ['first', 'second'])),
    ),
  'a probe that is not answered': () => checkProxy(at('http://127.0.0.1:9', ['first'])),
  'an address that cannot be read': () => checkAddress(on({ PUBLIC_URL: 'nowhere' }), undefined),
  'an address that does not exist': () =>
    checkAddress({ ...at('http://foyer.invalid', []), say: () => 'the reason' }, undefined),
  'a Foyer that answers': () =>
    beside(
      (url) => [200, url === '/healthz' ? alive : '{"issuer":"other"}'],
      (url) => checkAddress(at(url, [], { NODE_ENV: 'test' }), undefined),
    ),
  'a Foyer that stops to answer': () =>
    beside(
      (url) => [url === '/healthz' ? 200 : 204, alive],
      (url) => checkAddress(at(url, ['first']), undefined),
    ),
};

export const outsideCases: Cases = { ...messageCases, ...serviceCases, ...addressCases };
