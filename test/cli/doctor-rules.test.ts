import { getCountries } from 'libphonenumber-js/max';
import { createRedactor, listSecrets } from '../../config/redact.ts';
import { judgeClient, judgeRedirect } from '../../server/cli/doctor/checks-address.ts';
import { checkConfiguration, judgeMachine } from '../../server/cli/doctor/checks-host.ts';
import { clockOffset, judgeClock } from '../../server/cli/doctor/checks-services.ts';
import { bytesText } from '../../server/cli/doctor/finding.ts';
import type { MachineFacts } from '../../server/cli/doctor/machine.ts';
import { report } from '../../server/cli/doctor/report.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import type { ProbeReport } from '../../server/http/index.ts';
import { production } from '../attacks/production.ts';
import { listComplaints } from '../support/doctor-findings.ts';
import { goodMachine } from './doctor-facts.ts';

/** An account that sends text messages. */
const twilio = {
  TWILIO_ACCOUNT_SID: `AC${'1'.repeat(32)}`,
  TWILIO_AUTH_TOKEN: 'a token of nobody',
  TWILIO_FROM: '+15557122661',
};

describe('clocks', () => {
  const read = (theirsMs: number, grainMs?: number) => ({
    source: 'Redis',
    beforeMs: 100_000,
    afterMs: 100_500,
    theirsMs,
    ...(grainMs !== undefined && { grainMs }),
  });
  it.each([
    ['between question and answer', read(100_200), 0],
    ['ahead, counted from the answer', read(102_500), 2_000],
    ['behind, counted from the question', read(97_000), -3_000],
    ['behind by less than the second that a Date header leaves out', read(99_000, 1_000), 0],
    ['behind by more than the second that a Date header leaves out', read(98_000, 1_000), -1_000],
  ])('A clock reading that is %s has the expected offset', (_what, reading, offset) =>
    expect(clockOffset(reading)).toBe(offset),
  );
  it.each([
    [1_999, 'ok'],
    [2_000, 'warning'],
    [29_999, 'warning'],
    [30_000, 'fault'],
  ])('Clocks %d ms apart have the level %s', (ms, level) => {
    expect(judgeClock(read(100_500 + ms)).map((found) => found.level)).toEqual([level]);
    expect(judgeClock(read(100_000 - ms)).map((found) => found.level)).toEqual([level]);
  });
});

describe('configuration', () => {
  const judge = (more: NodeJS.ProcessEnv) => checkConfiguration(readSetup({ ...production, ...more }, Date.now));
  it.each<[string, NodeJS.ProcessEnv, string[]]>([
    ['a production environment in order', {}, []],
    ['no proxy and https', { TRUST_PROXY: '0' }, ['configuration.trust-proxy warning']],
    ['an empty TRUST_PROXY', { TRUST_PROXY: '' }, ['configuration.faults fault']],
    [
      'the same secret key twice',
      { SECRET_KEY: `${production.SECRET_KEY},${production.SECRET_KEY}` },
      ['configuration.secret-key-list note'],
    ],
    ['a secret key that repeats three letters', { SECRET_KEY: 'abc'.repeat(20) }, ['configuration.secret-key warning']],
    ['a folder of pictures that exists', { MEDIA_DIR: import.meta.dirname }, []],
    ['a folder of pictures that does not exist', { MEDIA_DIR: '/nowhere/media' }, ['configuration.media-dir warning']],
    [
      'a file in place of the folder of pictures',
      { MEDIA_DIR: import.meta.filename },
      ['configuration.media-dir warning'],
    ],
    ['metrics on loopback', { METRICS_PORT: '9464' }, []],
    ['metrics on a private address', { METRICS_PORT: '9464', METRICS_HOST: '10.1.2.3' }, []],
    ['metrics on every address', { METRICS_PORT: '9464', METRICS_HOST: '::' }, ['configuration.metrics-host warning']],
    ['a public metrics address without a port', { METRICS_HOST: '0.0.0.0' }, []],
    ['a Redis server beside a database file', { REDIS_URL: 'redis://r' }, ['configuration.stores note']],
    ['a Redis server and a database server', { REDIS_URL: 'redis://r', DATABASE_URL: 'postgres://d' }, []],
    ['text messages to some countries', { ...twilio, SMS_COUNTRIES: 'DE,AT' }, []],
    [
      'text messages to all countries',
      { ...twilio, SMS_COUNTRIES: getCountries().join() },
      ['configuration.text-messages warning'],
    ],
    [
      'incomplete settings of Twilio',
      { TWILIO_AUTH_TOKEN: 'token', SMS_COUNTRIES: 'DE' },
      Array(2).fill('configuration.faults fault'),
    ],
    [
      'a setting that shows visitors who is a member',
      { PREVENT_USER_EXISTENCE_ERRORS: 'false' },
      ['configuration.user-existence warning'],
    ],
    ['a misspelt variable', { SESSION_IDLE_MINUTE: '10' }, ['configuration.misspelt warning']],
    ['an address with a port for a proxy', { TRUST_PROXY: '10.0.0.1:8080' }, ['configuration.faults fault']],
    ['a cookie domain that others share', { COOKIE_DOMAIN: 'co.uk' }, ['configuration.faults fault']],
  ])('The configuration check gives the expected findings for %s', (_what, more, expected) =>
    expect(listComplaints(judge(more))).toEqual(expected),
  );

  it('The doctor reports the countries of text messages and never the token', () => {
    const said = (more: NodeJS.ProcessEnv) =>
      judge(more).find(({ id }) => id === 'configuration.text-messages')?.seen ?? '';
    expect(said({})).toContain('not sent');
    expect(said({ ...twilio, SMS_COUNTRIES: 'DE,AT' })).toContain('DE, AT');
    expect(JSON.stringify(judge({ ...twilio, SMS_COUNTRIES: 'DE' }))).not.toContain(twilio.TWILIO_AUTH_TOKEN);
  });

  it('The doctor confirms a cookie domain that fits', () => {
    expect(judge({ COOKIE_DOMAIN: 'example.com' }).map(({ id }) => id)).toContain('configuration.cookie-domain');
  });
});

describe('this machine', () => {
  it.each<[string, Partial<MachineFacts>, string[]]>([
    ['a machine in order', {}, []],
    ['an old Node', { nodeVersion: '22.9.0' }, ['machine.node fault']],
    ['the default number of threads', { threads: undefined }, ['machine.threads note']],
    ['the default number of threads on few cores', { threads: undefined, cores: 4, workers: 4 }, []],
    ['more workers than cores', { workers: 9 }, ['machine.workers note']],
    ['a low limit of open files', { openFiles: 1024 }, ['machine.open-files warning']],
    ['an unknown limit of open files', { openFiles: undefined }, []],
    ['no limit of open files', { openFiles: Number.POSITIVE_INFINITY }, []],
    ['a process of root', { root: true }, ['machine.root note']],
    [
      'a development machine',
      { production: false, threads: 1, root: true, openFiles: 256 },
      ['machine.open-files note'],
    ],
  ])('The machine check gives the expected findings for %s', (_what, facts, expected) =>
    expect(listComplaints(judgeMachine({ ...goodMachine, ...facts }))).toEqual(expected),
  );
});

describe('the client address that Foyer sees', () => {
  const forged = '192.0.2.66';
  const seen = (forwardedFor: string | null, peer: string, client: string): ProbeReport => ({
    host: 'login.example.com',
    forwardedProto: 'https',
    forwardedHost: null,
    protocol: 'https',
    process: 1,
    worker: null,
    forwardedFor,
    peer,
    client,
  });
  it.each<[string, ProbeReport, string]>([
    ['one proxy that replaces the header', seen('203.0.113.5', '10.0.0.1', '203.0.113.5'), 'ok'],
    ['one proxy that adds to it', seen(`${forged}, 203.0.113.5`, '10.0.0.1', '203.0.113.5'), 'ok'],
    ['two proxies that add to it', seen(`${forged}, 203.0.113.5, 10.0.0.2`, '10.0.0.1', '203.0.113.5'), 'ok'],
    ['two proxies of which one is trusted', seen(`${forged}, 203.0.113.5, 10.0.0.2`, '10.0.0.1', '10.0.0.2'), 'fault'],
    ['one trusted proxy too many', seen(`${forged}, 203.0.113.5`, '10.0.0.1', forged), 'fault'],
    ['no trusted proxy', seen('203.0.113.5', '10.0.0.1', '10.0.0.1'), 'fault'],
    ['a proxy that removes the header', seen(null, '10.0.0.1', '10.0.0.1'), 'fault'],
    ['a proxy that adds nothing', seen(forged, '10.0.0.1', '10.0.0.1'), 'fault'],
    ['IPv4 addresses within IPv6', seen('::ffff:203.0.113.5', '::ffff:10.0.0.1', '203.0.113.5'), 'ok'],
    ['a proxy and a client on this machine', seen(`${forged}, 127.0.0.1`, '127.0.0.1', '127.0.0.1'), 'ok'],
  ])('The client address check gives the expected level for %s', (_what, facts, level) =>
    expect(judgeClient(facts, forged).map((found) => found.level)).toEqual([level]),
  );
});

it('An http:// address without an answer is a note, because browsers try https:// themselves', () => {
  expect(judgeRedirect('https://login.example.com', 'connect ECONNREFUSED')).toMatchObject([{ level: 'note' }]);
});

describe('redacted error texts', () => {
  const env = {
    SECRET_KEY: 'first-secret-key-of-the-list,second-secret-key-of-the-list',
    DATABASE_URL: 'postgres://foyer:p%40ss%2Fword@db/foyer?sslpassword=keyphrase',
    REDIS_URL: 'rediss+sentinel://:at@in@it@a,b/main?sentinelPassword=sentinels%21own',
  };
  it.each([
    'first-secret-key-of-the-list',
    'second-secret-key-of-the-list',
    'p%40ss%2Fword',
    'p@ss/word',
    'keyphrase',
    'at@in@it',
    'sentinels!own',
    'made-for-development',
  ])('An error text is shown without %s', (secret) => {
    const say = createRedactor(listSecrets(env, ['made-for-development']));
    expect(say(new Error(`cannot connect with ${secret} (twice: ${secret})`))).toBe(
      'cannot connect with *** (twice: ***)',
    );
  });

  it('A long error text is cut, and control characters do not reach the terminal', () => {
    expect(createRedactor([])('x'.repeat(5_000)).length).toBeLessThan(400);
    const { text } = report([{ id: 'a.b', area: 'address', level: 'ok', seen: 'a \u001b[31mred\u0007 issuer' }]);
    expect([...text].filter((c) => c < ' ' && c !== '\n')).toEqual([]);
  });
});

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [4096, '4.1 KB'],
  [82_904_000_000, '82.9 GB'],
  [5e15, '5000 TB'],
])('The size of %d bytes is written as %s', (bytes, text) => expect(bytesText(bytes)).toBe(text));
