import { join } from 'node:path';
import { standInClients, standInProvidersFile } from '../config/stand-in-providers.ts';
import type { Deps } from '../server/deps.ts';
import { providersStandIn } from './addresses.ts';
import {
  companies,
  companyKeysIn,
  createProviderStandIns,
  type ProviderStandIns,
  writeCompanies,
} from './providers/index.ts';

/** The stand-ins for identity providers, and their file for Foyer; undefined if every provider is configured. */
export async function openProviders(deps: Deps): Promise<ProviderStandIns | undefined> {
  const { config, now, log } = deps;
  const file = standInProvidersFile(config.DATA_DIR, config.SANDBOX_PORT);
  const ownFile = config.PROVIDERS_FILE === file;
  const origin = providersStandIn(config);
  if (origin === undefined) return undefined;
  const keys = companyKeysIn(join(file, '..', 'keys'), now());
  if (ownFile) writeCompanies(file, companies(origin, standInClients.oidc, { folder: 'keys', idpInitiated: true }));
  return createProviderStandIns({
    origin,
    now,
    clients: standInClients,
    samlSigner: keys.acme,
    serviceProviderCertificate: keys.foyer.certificate,
    foyerUrl: () => (ownFile ? config.PUBLIC_URL : undefined),
    log: (line) => log.warn(line),
  });
}
