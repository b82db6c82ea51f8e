import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, loadConfig } from '../../config/load.ts';
import { standardCredentials } from '../../config/standard-providers.ts';
import { checkConfiguration } from '../../server/cli/doctor/checks-host.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { production } from '../attacks/production.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'foyer-printed-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const text = readFileSync(join(import.meta.dirname, '../../config/example.env'), 'utf8');
const shown = new Map(
  [...text.matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
);
/** Whatever proves who somebody is, or names an account: a new one in the file is found by its name. */
const credentials = [...shown.keys()].filter(
  (name) =>
    /(_KEY|_SECRET|_TOKEN|_CLIENT_ID|_APP_ID|_ACCOUNT_SID)$|^(SMTP|DATABASE|REDIS)_URL$/.test(name) &&
    name !== 'DEFAULT_CLIENT_ID',
);

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig({ DATA_DIR: dataDir, ...environment });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults;
  }
}
const isPrintedFault = (fault: string) => fault.includes('the value that is printed in config/example.env');

describe('credentials that are printed in config/example.env', () => {
  it('The printed credentials are exactly the known ones', () => {
    const known = [
      ...standardCredentials.map(({ variable }) => variable),
      'DATABASE_URL',
      'REDIS_URL',
      'SECRET_KEY',
      'SENDGRID_API_KEY',
      'SMTP_URL',
      'STRIPE_PUBLISHABLE_KEY',
      'STRIPE_SECRET_KEY',
      'STRIPE_WEBHOOK_SECRET',
      'TWILIO_ACCOUNT_SID',
      'TWILIO_AUTH_TOKEN',
    ];
    expect(credentials.sort()).toEqual(known.sort());
  });

  it.each(credentials)(
    'A start in production with the printed %s is refused, and the doctor reports a fault',
    (name) => {
      const given = { ...production, [name]: shown.get(name) ?? '' };
      expect(faultsOf(given).filter(isPrintedFault)).toEqual([expect.stringMatching(new RegExp(`^${name}: `))]);
      const findings = checkConfiguration(readSetup(given, Date.now));
      const printed = findings.filter(({ level, seen }) => level === 'fault' && seen.includes('printed'));
      expect(printed.map(({ seen }) => seen)).toEqual([expect.stringContaining(name)]);
    },
  );

  it('The printed SECRET_KEY is refused anywhere in a list', () => {
    const printed = shown.get('SECRET_KEY') ?? '';
    for (const list of [`${'k'.repeat(40)},${printed}`, `${printed},${'k'.repeat(40)}`]) {
      expect(faultsOf({ ...production, SECRET_KEY: list }).filter(isPrintedFault)).toHaveLength(1);
    }
  });

  it('All printed credentials are reported at once, and none in development', () => {
    const all = Object.fromEntries(credentials.map((name) => [name, shown.get(name) ?? '']));
    expect(faultsOf({ ...production, ...all }).filter(isPrintedFault)).toHaveLength(credentials.length);
    expect(faultsOf({ ...all, TWILIO_FROM: '+15557122661', NODE_ENV: 'development' })).toEqual([]);
  });
});
