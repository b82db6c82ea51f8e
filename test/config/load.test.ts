import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, loadConfig } from '../../config/load.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'foyer-config-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const secret = 's'.repeat(40);
const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://login.example.com',
  SECRET_KEY: secret,
  SEARCH_APP_URL: 'https://search.example.com/',
  TRUST_PROXY: '1',
  MAIL_FROM: 'Foyer <no-reply@example.com>',
  SMTP_URL: 'smtp://127.0.0.1:9',
  DATA_DIR: dataDir,
};

/** The variables that are complained about, in order. */
function faultsOf(environment: Record<string, string>): string[] {
  try {
    loadConfig({ DATA_DIR: dataDir, ...environment });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    for (const fault of error.faults) expect(error.message).toContain(fault);
    return [...error.faults];
  }
}
const variables = (faults: string[]) => faults.map((fault) => /^[A-Z_]+/.exec(fault)?.[0]);

describe('a configuration with faults', () => {
  it('A faulty configuration is refused with all faults at once, each with its variable', () => {
    const faults = faultsOf({
      PORT: '70000',
      DATABASE_URL: 'mysql://db/foyer',
      REDIS_URL: 'http://redis',
      TRUST_PROXY: 'yes',
      SANDBOX: 'no',
      LOG_LEVEL: 'loud',
      SECRET_KEY: 'short',
      GUESS_LIMIT_ACCOUNT: '0',
      KEYS_REFRESH_SECONDS: '5s',
      PASSWORD_QUEUE_FULL_STATUS: '500',
      MAIL_FROM: 'Foyer <a@example.com>, b@example.com',
      MAIL_SUPPORT_ADDRESS: 'Help <help@example.com>',
      SENDGRID_API_KEY: 'key',
      SENDGRID_TEMPLATES: 'share=d-1,share=d-2',
      SMTP_URL: 'http://smtp.example.com',
      HELP_URL: 'javascript:alert(1)',
      PUBLIC_URL: 'http://localhost:3000/path',
    });
    expect(variables(faults).sort()).toEqual([
      'DATABASE_URL',
      'GUESS_LIMIT_ACCOUNT',
      'HELP_URL',
      'KEYS_REFRESH_SECONDS',
      'LOG_LEVEL',
      'MAIL_FROM',
      'MAIL_SUPPORT_ADDRESS',
      'PASSWORD_QUEUE_FULL_STATUS',
      'PORT',
      'PUBLIC_URL',
      'REDIS_URL',
      'SANDBOX',
      'SEARCH_APP_URL',
      'SECRET_KEY',
      'SENDGRID_API_KEY',
      'SENDGRID_TEMPLATES',
      'SMTP_URL',
      'TRUST_PROXY',
    ]);
    for (const fault of faults) expect(fault).toMatch(/: (write|must|.*so set)/);
  });

  it('A fault never repeats a secret', () => {
    const faults = faultsOf({
      SECRET_KEY: 'hunter2',
      DATABASE_URL: 'mysql://user:hunter2@db',
      REDIS_URL: 'tcp://:hunter2@redis',
    });
    expect(faults).toHaveLength(3);
    expect(faults.join()).not.toContain('hunter2');
  });

  it.each([
    ['PORT', ['0', '65536', '3e3', '-1', ' ', '80.5']],
    [
      'PUBLIC_URL',
      ['localhost:3000', 'ftp://localhost', 'http://localhost/?x', 'http://me@localhost', 'http://localhost/#x'],
    ],
    ['SECRET_KEY', [`${secret},short`, `${secret},`]],
    ['REMEMBER_ME_DAYS', ['0', '366']],
    ['SANDBOX', ['1', 'True']],
  ])('The variable %s refuses invalid values', (name, values) => {
    for (const value of values)
      expect({ value, faults: variables(faultsOf({ [name]: value })) }).toMatchObject({
        value,
        faults: expect.arrayContaining([name]),
      });
  });

  it.each([
    'login.example.com',
    'login.example.com:443',
    '"https://login.example.com"',
    'https://login.example.com/auth',
    'https://user:password@login.example.com',
    'https://',
    'ftp://login.example.com',
  ])('A PUBLIC_URL of %s is one fault, which says how it is written', (url) => {
    expect(faultsOf({ ...production, PUBLIC_URL: url })).toEqual([
      'PUBLIC_URL: write scheme and host alone (and a port), as in https://login.example.com',
    ]);
  });

  it('A LOG_LEVEL that does not exist is answered with those that do', () => {
    const fault = faultsOf({ LOG_LEVEL: 'verbose' })[0] ?? '';
    const levels = fault.replace('LOG_LEVEL: write ', '').split(/, | or /);
    expect(levels).toHaveLength(7);
    for (const LOG_LEVEL of levels) expect(faultsOf({ LOG_LEVEL })).toEqual([]);
  });

  it('Line ends of Windows in the environment are one fault with the names of the variables, and no value', () => {
    const CR = '\r';
    const windows = Object.fromEntries(Object.entries(production).map(([name, value]) => [name, value + CR]));
    const found = faultsOf({ ...windows, LANG: `C${CR}` });
    expect(found).toEqual([
      expect.stringMatching(/^DATA_DIR, NODE_ENV, PUBLIC_URL, .*: the value ends with a carriage return; save/),
    ]);
    expect(found[0]).not.toMatch(/LANG|sss|\r/);
    expect(faultsOf({ ...production, SECRET_KEY: secret + CR, PORT: '80a' })).toEqual([
      expect.stringMatching(/^SECRET_KEY: the value ends/),
      expect.stringMatching(/^PORT: /),
    ]);
  });

  it('An empty variable counts as not set', () => {
    expect(loadConfig({ DATA_DIR: dataDir, PORT: '', SECRET_KEY: '', SANDBOX: '' })).toMatchObject({
      PORT: 3000,
      SANDBOX: true,
    });
  });

  it.each([
    'redis://h',
    'rediss://user:p%40ss@h:6380/2',
    'redis+sentinel://a:26379,b/NAME',
    'rediss+sentinel://a,b:26380/NAME/1?prefix=x:',
  ])('The address %s is accepted for Redis', (url) => {
    expect(faultsOf({ REDIS_URL: url })).toEqual([]);
  });
});

describe('development', () => {
  it('Development needs no variable and has the sandbox', () => {
    const config = loadConfig({ DATA_DIR: dataDir });
    expect(config).toMatchObject({
      PORT: 3000,
      PUBLIC_URL: 'http://localhost:3000',
      SANDBOX: true,
      SANDBOX_PORT: 3001,
      LOG_LEVEL: 'warn',
      production: false,
      https: false,
    });
  });

  it('Development creates a key once that only its owner can read', () => {
    const keys = loadConfig({ DATA_DIR: dataDir }).SECRET_KEYS;
    expect(loadConfig({ DATA_DIR: dataDir }).SECRET_KEYS).toEqual(keys);
    expect(keys[0]).toMatch(/^development-.{40,}/);
    expect(statSync(join(dataDir, 'development-secret-key')).mode & 0o077).toBe(0);
    expect(readdirSync(dataDir)).toEqual(['development-secret-key']);
    const fresh = join(dataDir, 'fresh');
    loadConfig({ DATA_DIR: fresh });
    expect(statSync(fresh).mode & 0o077).toBe(0);
  });

  it('PUBLIC_URL is reduced to its origin and follows PORT', () => {
    expect(loadConfig({ DATA_DIR: dataDir, PUBLIC_URL: 'http://LOCALHOST:4000/' }).PUBLIC_URL).toBe(
      'http://localhost:4000',
    );
    expect(loadConfig({ DATA_DIR: dataDir, PORT: '4000' }).PUBLIC_URL).toBe('http://localhost:4000');
    expect(loadConfig({ DATA_DIR: dataDir, PORT: '65535' }).SANDBOX_PORT).toBe(65534);
  });

  it('Development without the sandbox requires the search app, beside all other faults', () => {
    expect(variables(faultsOf({ SANDBOX: 'false', PORT: 'x' }))).toEqual(['PORT', 'SEARCH_APP_URL']);
    expect(faultsOf({ SANDBOX: 'false', SEARCH_APP_URL: 'http://localhost:9/' })).toEqual([]);
  });

  it('SECRET_KEY may have several keys, the newest first', () => {
    expect(loadConfig({ DATA_DIR: dataDir, SECRET_KEY: `${'n'.repeat(32)},${secret}` }).SECRET_KEYS).toEqual([
      'n'.repeat(32),
      secret,
    ]);
  });
});

describe('production', () => {
  it('Production starts with the required variables and has no sandbox', () => {
    expect(loadConfig(production)).toMatchObject({
      production: true,
      https: true,
      SANDBOX: false,
      LOG_LEVEL: 'info',
      TRUST_PROXY: 1,
    });
  });

  it('Production reports everything that is missing at once', () => {
    expect(variables(faultsOf({ NODE_ENV: 'production' }))).toEqual([
      'PUBLIC_URL',
      'SECRET_KEY',
      'SEARCH_APP_URL',
      'TRUST_PROXY',
      'MAIL_FROM',
      'SENDGRID_API_KEY',
    ]);
  });

  it('Production reports what is missing beside what is malformed', () => {
    expect(variables(faultsOf({ NODE_ENV: 'production', PORT: 'x', SANDBOX: 'true' }))).toEqual(
      expect.arrayContaining(['PORT', 'PUBLIC_URL', 'SECRET_KEY', 'SEARCH_APP_URL', 'TRUST_PROXY', 'SANDBOX']),
    );
  });

  it('Production refuses plain http', () => {
    expect(faultsOf({ ...production, PUBLIC_URL: 'http://login.example.com' })).toEqual([
      'PUBLIC_URL: must begin with https:// in production',
    ]);
  });

  it('Production creates no key of its own', () => {
    const { SECRET_KEY: _, ...keyless } = production;
    expect(variables(faultsOf(keyless))).toEqual(['SECRET_KEY']);
  });

  it('Production accepts 0 proxies as an answer', () => {
    expect(loadConfig({ ...production, TRUST_PROXY: '0' }).TRUST_PROXY).toBe(0);
  });
});

/** security.md, rule 16 */
describe('attack: the sandbox on an address that others reach', () => {
  it('The sandbox is refused when SANDBOX is on in production', () => {
    expect(variables(faultsOf({ ...production, SANDBOX: 'true' }))).toEqual(['SANDBOX']);
  });

  it.each([
    'https://login.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com:3000',
    'http://192.168.1.2:3000',
    'http://0.0.0.0:3000',
    'http://127.0.0.2',
  ])('The sandbox is refused when NODE_ENV is forgotten on %s', (url) => {
    expect(faultsOf({ PUBLIC_URL: url })).toEqual([
      `PUBLIC_URL: ${url} is a public address, so set NODE_ENV=production; development and the sandbox run only on a localhost address`,
    ]);
    expect(variables(faultsOf({ PUBLIC_URL: url, NODE_ENV: 'test', SANDBOX: 'true' }))).toEqual(['PUBLIC_URL']);
    expect(variables(faultsOf({ PUBLIC_URL: url, SANDBOX: 'false', SEARCH_APP_URL: 'https://s.example/' }))).toEqual([
      'PUBLIC_URL',
    ]);
  });

  it.each(['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000', 'https://localhost'])(
    'The sandbox is open on %s',
    (url) => {
      expect(loadConfig({ DATA_DIR: dataDir, PUBLIC_URL: url }).SANDBOX).toBe(true);
    },
  );

  it('A key that was made for development is refused in production, at any place in the list', () => {
    const key = readFileSync(join(dataDir, 'development-secret-key'), 'utf8');
    expect(variables(faultsOf({ ...production, SECRET_KEY: key }))).toEqual(['SECRET_KEY']);
    expect(variables(faultsOf({ ...production, SECRET_KEY: `${secret},${key}` }))).toEqual(['SECRET_KEY']);
  });

  it('Attack: only production listens to other machines', () => {
    expect(variables(faultsOf({ HOST: '0.0.0.0' }))).toEqual(['HOST']);
    expect(loadConfig({ DATA_DIR: dataDir, HOST: '::1' }).HOST).toBe('::1');
    expect(loadConfig({ DATA_DIR: dataDir }).HOST).toBe('127.0.0.1');
    expect(variables(faultsOf({ HOST: 'localhost' }))).toContain('HOST');
  });
});
