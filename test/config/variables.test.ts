import express from 'express';
import { loadConfig } from '../../config/load.ts';
import { misspelt } from '../../config/misspelt.ts';
import { schema, variableNames } from '../../config/schema.ts';
import { parseTrustProxy } from '../../config/trust-proxy.ts';
import { production } from '../attacks/production.ts';

describe('TRUST_PROXY', () => {
  const accepted = [
    '0',
    '2',
    'loopback',
    'loopback, 10.0.0.7',
    'linklocal,uniquelocal',
    '192.0.2.7',
    '10.0.0.0/8, 192.168.0.0/16',
    '10.0.0.0/255.0.0.0',
    '2001:db8::1',
    'fd00::/8',
    '::ffff:10.0.0.1',
  ];
  const refused = [
    '10.0.0.1:8080',
    'abc',
    'true',
    '-1',
    '1.5',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0.0/8/8',
    '10.0.0.0/0.255.0.0',
    'fd00::/129',
    'fe80::1%eth0',
    '10.0.0.1,',
    'localhost',
    'loopback;10.0.0.1',
  ];
  it.each(accepted)('The value %s of TRUST_PROXY is accepted, and Express accepts it', (value) => {
    const parsed = schema.shape.TRUST_PROXY.parse(value);
    expect(() => express().set('trust proxy', parsed)).not.toThrow();
  });
  it.each(refused)('The value %s of TRUST_PROXY is one line in the list of faults and not a stack trace', (value) => {
    expect(() => loadConfig({ ...production, TRUST_PROXY: value })).toThrow(
      /The configuration has a fault:\n {2}- TRUST_PROXY: write how many proxies/,
    );
  });
  it('No accepted value of TRUST_PROXY makes Express throw, as 5,000 random texts show', () => {
    const letters = '0123456789abf.:/, %';
    let taken = 0;
    for (let n = 0; n < 5_000; n += 1) {
      const long = 1 + (n % 12);
      const value = Array.from({ length: long }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
      const parsed = parseTrustProxy(value);
      if (parsed === undefined) continue;
      taken += 1;
      expect(() => express().set('trust proxy', parsed)).not.toThrow();
    }
    expect(taken).toBeGreaterThan(10);
  });
});

describe('PREVENT_USER_EXISTENCE_ERRORS', () => {
  it.each([
    [production, true],
    [{ ...production, PREVENT_USER_EXISTENCE_ERRORS: 'false' }, false],
    [{ NODE_ENV: 'test', SECRET_KEY: 'k'.repeat(32), SEARCH_APP_URL: 'https://s.example' }, false],
    [{ NODE_ENV: 'test', SECRET_KEY: 'k'.repeat(32), SANDBOX: 'true' }, false],
    [{ NODE_ENV: 'test', SECRET_KEY: 'k'.repeat(32), SANDBOX: 'true', PREVENT_USER_EXISTENCE_ERRORS: 'true' }, true],
  ])(
    'PREVENT_USER_EXISTENCE_ERRORS is on by default only in production and may be set (case %#)',
    (environment, expected) => {
      expect(loadConfig(environment).PREVENT_USER_EXISTENCE_ERRORS).toBe(expected);
    },
  );
});

describe('misspelt variables', () => {
  it.each([
    ['SENGRID_API_KEY', 'SENDGRID_API_KEY'],
    ['SESSION_IDLE_MINUTE', 'SESSION_IDLE_MINUTES'],
    ['STRIPE_SECRETKEY', 'STRIPE_SECRET_KEY'],
    ['GUESS_LIMIT_ACOUNT', 'GUESS_LIMIT_ACCOUNT'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['TRUST_PORXY', 'TRUST_PROXY'],
    ['TURST_PORXY', 'TRUST_PROXY'],
    ['PUBLC_ULR', 'PUBLIC_URL'],
    ['REDDIS_ULR', 'REDIS_URL'],
  ])('The misspelt variable %s gives a warning that suggests %s', (name, meant) => {
    expect(misspelt({ ...production, [meant]: undefined, [name]: 'x' })).toEqual([{ name, meant }]);
  });

  it('Known names, empty values, names of other programs and a name whose right form is set give no warning', () => {
    const others = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'POST',
      'PWD',
      'TERM',
      'NODE_OPTIONS',
      'UV_THREADPOOL_SIZE',
      'TMPDIR',
      'LANGUAGE',
      'LOGNAME',
      'npm_config_port',
      'FTP_URL',
      'INVOCATION_ID',
      'JOURNAL_STREAM',
    ];
    const environment = Object.fromEntries([...others, ...variableNames].map((name) => [name, 'x']));
    expect(misspelt(environment)).toEqual([]);
    expect(misspelt(Object.fromEntries(others.map((name) => [name, 'x'])))).toEqual([]);
    expect(misspelt({ SENGRID_API_KEY: '' })).toEqual([]);
    expect(misspelt({ DATABASE_URI: 'x', DATABASE_URL: 'y' })).toEqual([]);
  });
});
