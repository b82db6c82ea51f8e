import { chmod, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { startSmtp } from '../messages/stand-in-smtp.ts';
import { waitFor } from '../support/wait-for.ts';
import { production } from './production.ts';
import { createServers, doctorFindings } from './server-process.ts';

const servers = createServers();
afterAll(() => servers.end());

/** Root may write everywhere, so a start without rights needs another user. */
const other = process.getuid?.() === 0 ? 65_534 : undefined;

interface Mistake {
  variables: Record<string, string>;
  /** Each in a line of the start's standard error. */
  start: RegExp[];
  /** The findings of the doctor at the level of a fault, each with the beginning of its text. */
  doctor: [id: string, seen: RegExp][];
}

/** Values that stop a start, and the lines that name them. */
const mistakes: Record<string, Mistake> = {
  'a LEGAL_DIR that does not exist': {
    variables: { LEGAL_DIR: '/nonexistent' },
    start: [/LEGAL_DIR: \/nonexistent\/en\/terms\.md is missing$/, /LEGAL_DIR: .*imprint\.md is missing$/],
    doctor: [
      ['configuration.legal-dir', /^LEGAL_DIR: .*terms\.md is missing$/],
      ['configuration.legal-dir', /^LEGAL_DIR: .*imprint\.md is missing$/],
    ],
  },
  'no LEGAL_DIR': {
    variables: { LEGAL_DIR: '' },
    start: [/LEGAL_DIR: is not set, so the imprint names no operator/],
    doctor: [['configuration.legal-dir', /^LEGAL_DIR: is not set, so the imprint names no operator/]],
  },
  'a LEGAL_DIR that is a file': {
    variables: { LEGAL_DIR: '/etc/passwd' },
    start: [/LEGAL_DIR: \/etc\/passwd\/en\/terms\.md is missing$/, /imprint\.md is missing$/],
    doctor: [
      ['configuration.legal-dir', /^LEGAL_DIR/],
      ['configuration.legal-dir', /^LEGAL_DIR/],
    ],
  },
  'several wrong files and a wrong variable': {
    variables: { LEGAL_DIR: '/no-legal', PLANS_FILE: '/no-plans', PROVIDERS_FILE: '/no-providers', PORT: '3000x' },
    start: [
      /PORT: write a whole number from 1 to 65535$/,
      /LEGAL_DIR: .*terms\.md/,
      /LEGAL_DIR: .*imprint\.md/,
      /PLANS_FILE: \/no-plans: /,
      /PROVIDERS_FILE: \/no-providers: /,
    ],
    doctor: [
      ['configuration.faults', /^PORT: /],
      ['configuration.legal-dir', /^LEGAL_DIR/],
      ['configuration.legal-dir', /^LEGAL_DIR/],
      ['plans.file', /^PLANS_FILE: /],
      ['providers.file', /^PROVIDERS_FILE: /],
    ],
  },
  'a TRUST_PROXY with a port': {
    variables: { TRUST_PROXY: '10.0.0.1:8080' },
    start: [/TRUST_PROXY: write how many proxies stand before Foyer/],
    doctor: [['configuration.faults', /^TRUST_PROXY: /]],
  },
  'a SEARCH_APP_URL that is PUBLIC_URL': {
    variables: { SEARCH_APP_URL: 'https://login.example.com/' },
    start: [/SEARCH_APP_URL: is PUBLIC_URL/],
    doctor: [['configuration.faults', /^SEARCH_APP_URL: is PUBLIC_URL/]],
  },
  'the SECRET_KEY of config/example.env': {
    variables: { SECRET_KEY: 'write-the-output-of-openssl-rand-base64-48-here' },
    start: [/SECRET_KEY: is the value that is printed in config\/example\.env/],
    doctor: [['configuration.secret-key', /printed in config\/example\.env/]],
  },
  'the SMTP_URL of config/example.env': {
    variables: { SMTP_URL: 'smtps://user:password@smtp.example.com:465' },
    start: [/SMTP_URL: is the value that is printed/],
    doctor: [
      ['configuration.faults', /^SMTP_URL: is the value that is printed/],
      ['messages.smtp', /^The mail server cannot be reached/],
    ],
  },
  'an SMTP_URL without a scheme': {
    variables: { SMTP_URL: 'smtp.example.com:465' },
    start: [/SMTP_URL: write smtp:\/\/user:password@host:587 or smtps:/],
    doctor: [['configuration.faults', /^SMTP_URL: /]],
  },
  'the same port for pages and metrics': {
    variables: { PORT: '4701', METRICS_PORT: '04701' },
    start: [/METRICS_PORT: is the same as PORT/],
    doctor: [['configuration.faults', /^METRICS_PORT: /]],
  },
  'a port above 65535': {
    variables: { PORT: '65536', METRICS_PORT: '0' },
    start: [/ PORT: write a whole number from 1 to 65535$/, /METRICS_PORT: write a whole number from 1 to 65535$/],
    doctor: [
      ['configuration.faults', /^PORT: /],
      ['configuration.faults', /^METRICS_PORT: /],
    ],
  },
  'a DATA_DIR below a file': {
    variables: { DATA_DIR: '/etc/passwd/data' },
    start: [/DATA_DIR: \/etc\/passwd\/data cannot be a folder: \/etc\/passwd is a file/],
    doctor: [['data-folder.writable', /^DATA_DIR: .* is a file/]],
  },
  'a DATA_DIR in a file system without folders': {
    variables: { DATA_DIR: '/proc/foyer' },
    start: [
      /DATA_DIR: \/proc\/foyer cannot be made: \/proc accepts no folder \((ENOENT|EACCES|EPERM)\)|cannot be written/,
    ],
    doctor: [['data-folder.writable', /^DATA_DIR: \/proc\/foyer cannot be (made|written)/]],
  },
};

/** The levels that stop or break a start; what this machine's network does not reach is not meant. */
const faultsIn = async (variables: Record<string, string>, uid?: number) => {
  const found = await doctorFindings({ ...production, ...variables }, uid);
  const ofNetwork = /^(address|tls|proxy|clock)\./;
  const unsent = variables.SMTP_URL === undefined ? /^messages\./ : /^$/;
  return found.filter(({ id, level }) => level === 'fault' && !ofNetwork.test(id) && !unsent.test(id));
};

describe.each(Object.entries(mistakes))('with %s', (_name, { variables, start, doctor }) => {
  it('The start prints one line for each fault, no stack trace, and writes no file', async () => {
    const DATA_DIR = join(await servers.folder(), 'data');
    const server = await servers.start({ ...production, DATA_DIR, ...variables });
    expect(await server.ended).toBe(1);
    const [head = '', ...lines] = server.stderr().trimEnd().split('\n');
    expect(head).toMatch(/^The configuration has (a fault|\d+ faults):$/);
    expect(lines).toEqual(start.map((line) => expect.stringMatching(line)));
    expect(server.stdout()).toBe('');
    await expect(rm(DATA_DIR, { recursive: true })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('The doctor reports the same faults, each with a reason and a remedy', async () => {
    const found = await faultsIn({ DATA_DIR: join(await servers.folder(), 'data'), ...variables });
    expect(found.map(({ id, seen }) => [id, seen])).toEqual(
      doctor.map(([id, seen]) => [id, expect.stringMatching(seen)]),
    );
    for (const { why, todo } of found) expect([why, todo]).toEqual([expect.any(String), expect.any(String)]);
  });
});

it('A DATA_DIR without write permission is refused with its variable, the user, the owner and the mode', async () => {
  const DATA_DIR = await servers.folder();
  await chmod(DATA_DIR, 0o500);
  const uid = other ?? process.getuid?.();
  const text = new RegExp(
    `DATA_DIR: ${DATA_DIR} cannot be written by user .*${uid}.*: .* belongs to user \\d+ and has mode 500 \\(EACCES\\); chown it`,
  );
  const server = await servers.start({ ...production, DATA_DIR }, { uid: other });
  expect(await server.ended).toBe(1);
  expect(server.stderr()).toMatch(text);
  expect(server.stderr()).not.toMatch(/^\s+at /m);
  const found = (await faultsIn({ DATA_DIR }, other)).filter(({ id }) => id.startsWith('data-folder.'));
  expect(found.map(({ id, seen }) => [id, seen])).toEqual([['data-folder.writable', expect.stringMatching(text)]]);
});

it.each<[string, Record<string, string>, RegExp]>([
  ['a port that needs more rights', { PORT: '1' }, /^Port 1 needs rights .* set PORT .* from 1024 on/],
  ['a HOST of another machine', { HOST: '192.0.2.4' }, /^192\.0\.2\.4 is no address of this machine: set HOST/],
  [
    'a METRICS_HOST of another machine',
    { METRICS_PORT: '29464', METRICS_HOST: '192.0.2.4' },
    /^192\.0\.2\.4 is no address of this machine: set METRICS_HOST/,
  ],
  ['a DATABASE_URL that cannot be parsed', { DATABASE_URL: 'postgres://a:b@:x:9' }, /- DATABASE_URL: Invalid URL/],
  ['several hosts in REDIS_URL', { REDIS_URL: 'redis://:hunter2@a,b' }, /- REDIS_URL: Several Redis hosts need/],
])('A start with %s ends with one plain sentence and no stack trace', async (_name, variables, says) => {
  const folder = await servers.folder();
  await chmod(folder, 0o777);
  const server = await servers.start({ ...production, DATA_DIR: join(folder, 'data'), ...variables }, { uid: other });
  expect(await server.ended).toBe(1);
  expect(server.stderr()).toMatch(new RegExp(says.source, 'm'));
  expect(server.stderr()).not.toMatch(/^\s+at |hunter2/m);
});

it('Misspelt variables are named at the start and by the doctor with the variable that is meant', async () => {
  const misspelt = { SENGRID_API_KEY: 'SG.x', SESSION_IDLE_MINUTE: '5', STRIPE_SECRETKEY: 'sk' };
  const DATA_DIR = await servers.folder();
  const server = await servers.start({ ...production, DATA_DIR, ...misspelt });
  await server.ready;
  const said = server.stdout();
  const found = await doctorFindings({ ...production, DATA_DIR, ...misspelt });
  const warnings = found.filter(({ id }) => id === 'configuration.misspelt');
  expect(warnings.map(({ level }) => level)).toEqual(['warning', 'warning', 'warning']);
  for (const [name, meant] of [
    ['SENGRID_API_KEY', 'SENDGRID_API_KEY'],
    ['SESSION_IDLE_MINUTE', 'SESSION_IDLE_MINUTES'],
    ['STRIPE_SECRETKEY', 'STRIPE_SECRET_KEY'],
  ]) {
    expect(said).toContain(`${name}: did you mean ${meant}?`);
    expect(warnings.map(({ seen, todo }) => seen + todo).join('\n')).toMatch(
      new RegExp(`${name}[\\s\\S]*Did you mean ${meant}\\?`),
    );
  }
});

it('Legal texts that cannot be read are named, and a search app below a path of the same host is accepted', async () => {
  const [folder, DATA_DIR] = [await servers.folder(), await servers.folder()];
  await writeFile(join(folder, 'en'), 'a file');
  const broken = await servers.start({ ...production, DATA_DIR, LEGAL_DIR: folder });
  expect(await broken.ended).toBe(1);
  expect(broken.stderr()).toContain(`LEGAL_DIR: ${join(folder, 'en', 'terms.md')} is missing`);
  const server = await servers.start({ ...production, DATA_DIR, SEARCH_APP_URL: 'https://login.example.com/search' });
  await server.ready;
});

it('A refused login of the mail server is one warning after the start, which does not wait for it', async () => {
  const password = 'mail-pass-word-1';
  const smtp = await startSmtp({ login: { user: 'foyer', pass: 'another one' } });
  try {
    const SMTP_URL = `smtp://foyer:${password}@127.0.0.1:${smtp.port}?requireTLS=false`;
    const server = await servers.start({ ...production, SMTP_URL, DATA_DIR: await servers.folder() });
    await server.ready;
    await waitFor(() => expect(server.stdout()).toMatch(/"act":"message-service"/));
    const lines = server
      .stdout()
      .split('\n')
      .filter((line) => line.includes('message-service'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, service: 'smtp', state: 'refused', reason: expect.stringMatching(/535/) }),
    ]);
    expect(server.stdout()).not.toContain(password);
  } finally {
    await smtp.close();
  }
});

it('A start is ready while the mail server hangs', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const begunMs = performance.now();
  const server = await servers.start({
    ...production,
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    DATA_DIR: await servers.folder(),
  });
  await server.ready;
  // The check itself gives up after ten seconds.
  expect(server.stdout()).not.toContain('message-service');
  expect(performance.now() - begunMs).toBeLessThan(9_500);
  silent.close();
});
