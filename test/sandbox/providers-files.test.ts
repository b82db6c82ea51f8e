import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProviders } from '../../config/providers.ts';
import { standInClients, standInProvidersFile } from '../../config/stand-in-providers.ts';
import { companies, companyKeysIn, writeCompanies } from '../../sandbox/providers/index.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'foyer-companies-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const file = standInProvidersFile(dataDir, 3001);
const folder = join(file, '..', 'keys');
const now = Date.UTC(2026, 10, 22);

describe('files that the sandbox writes for its companies', () => {
  it('The keys are created once, for years, and only their owner can read them', () => {
    const keys = companyKeysIn(folder, now);
    expect(companyKeysIn(folder, now)).toEqual(keys);
    const certificate = new X509Certificate(keys.acme.certificate);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(now + 9 * 365 * 24 * 60 * 60_000);
    expect(statSync(join(folder, 'foyer.key')).mode & 0o077).toBe(0);
  });

  it('A missing half of the keys is reported', () => {
    const half = join(dataDir, 'half');
    mkdirSync(half);
    writeFileSync(join(half, 'foyer.key'), 'left');
    expect(() => companyKeysIn(half, now)).toThrow('delete the folder');
  });

  it('Foyer accepts the file of providers that the sandbox writes', () => {
    const json = companies('http://127.0.0.1:3001', standInClients.oidc, { folder: 'keys', idpInitiated: true });
    writeCompanies(file, json);
    const { providers, serviceProvider } = loadProviders(file, {});
    expect(providers.map(({ kind, id, domains }) => [kind, id, domains])).toEqual([
      ['oidc', 'acme-oidc', ['acme.example']],
      ['saml', 'acme-saml', ['corp.acme.example']],
    ]);
    expect(serviceProvider?.certificate).toBe(companyKeysIn(folder, now).foyer.certificate.trim());
    expect(providers[1]).toMatchObject({ idpInitiated: true });
  });
});
