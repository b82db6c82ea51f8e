import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspectConfig, loadConfig } from '../../config/load.ts';
import { writtenProvidersFile } from '../../config/stand-in-providers.ts';
import { standardKinds, standardProviders } from '../../config/standard-providers.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'foyer-stand-ins-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const development = { DATA_DIR: dataDir, SANDBOX_PORT: '4001' };
const file = join(dataDir, 'sandbox-providers', 'providers-4001.json');

describe('providers in the sandbox of a development machine', () => {
  it('All providers are stand-ins in the sandbox', () => {
    const origin = 'http://127.0.0.1:4001';
    const config = loadConfig(development);
    expect(config.PROVIDERS_FILE).toBe(file);
    for (const kind of standardKinds) {
      const { credentials, urlVariable } = standardProviders[kind];
      expect(config[urlVariable]).toBe(origin);
      expect([config[credentials.id.variable], config[credentials.secret.variable]]).toEqual([
        credentials.id.standIn,
        credentials.secret.standIn,
      ]);
      expect(`${credentials.id.standIn} ${credentials.secret.standIn}`).toContain('sandbox');
    }
  });

  it('A provider that is configured replaces its stand-in', () => {
    const own = { GOOGLE_CLIENT_ID: 'mine', GOOGLE_CLIENT_SECRET: 'of Google', PROVIDERS_FILE: '/etc/providers.json' };
    const config = loadConfig({ ...development, ...own });
    expect(config).toMatchObject({ ...own, FACEBOOK_URL: 'http://127.0.0.1:4001' });
    expect(config.GOOGLE_URL).toBeUndefined();
  });

  it('The stand-in providers exist nowhere but in the sandbox of a development machine', () => {
    for (const more of [
      { SANDBOX: 'false', SEARCH_APP_URL: 'http://localhost:9' },
      { NODE_ENV: 'test', SANDBOX: 'true' },
    ]) {
      const config = loadConfig({ ...development, ...more });
      expect(config.PROVIDERS_FILE).toBeUndefined();
      for (const kind of standardKinds) expect(config[standardProviders[kind].credentials.id.variable]).toBeUndefined();
    }
  });

  it('Commands that only read use the file of stand-in providers once the sandbox has written it', () => {
    expect(writtenProvidersFile(loadConfig(development))).toBeUndefined();
    expect(writtenProvidersFile(loadConfig({ ...development, PROVIDERS_FILE: '/etc/gone.json' }))).toBe(
      '/etc/gone.json',
    );
    expect(inspectConfig(development).config.PROVIDERS_FILE).toBeUndefined();
    mkdirSync(dirname(file));
    writeFileSync(file, '{}');
    expect(inspectConfig(development).config.PROVIDERS_FILE).toBe(file);
  });
});
