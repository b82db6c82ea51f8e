import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { byStandardKind, type StandardVariable, standardKinds, standardProviders } from './standard-providers.ts';

/**
 * Foyer as a client of the sandbox's stand-ins for providers (`sandbox/providers/`). These secrets are worthless
 * elsewhere.
 */
export const standInClients = {
  ...byStandardKind((kind) => {
    const { id, secret } = standardProviders[kind].credentials;
    return { id: id.standIn, secret: secret.standIn };
  }),
  oidc: { id: 'foyer-sandbox', secret: 'sandbox-of-acme' },
};

/** The origin of the sandbox's stand-ins: another site than Foyer's own, which is on localhost. */
export const standInOrigin = (port: number): string => `http://127.0.0.1:${port}`;

/** Written by the sandbox at its start; each sandbox has its own, by its port. */
export const standInProvidersFile = (dataDir: string, port: number): string =>
  join(dataDir, 'sandbox-providers', `providers-${port}.json`);

/** PROVIDERS_FILE, unless it is the file of a sandbox that was never started; for commands that only read. */
export function writtenProvidersFile(config: {
  PROVIDERS_FILE?: string | undefined;
  DATA_DIR: string;
  SANDBOX_PORT: number;
}) {
  const { PROVIDERS_FILE: file, DATA_DIR, SANDBOX_PORT } = config;
  return file === standInProvidersFile(DATA_DIR, SANDBOX_PORT) && !existsSync(file) ? undefined : file;
}

type ProviderEnvironment = Partial<Record<StandardVariable | 'PROVIDERS_FILE', string>>;

/** The sandbox's own stand-in for each provider that is not configured. */
export function standInForProviders(args: ProviderEnvironment, dataDir: string, port: number): ProviderEnvironment {
  const standIns: ProviderEnvironment = {};
  for (const kind of standardKinds) {
    const { credentials, urlVariable } = standardProviders[kind];
    const { id, secret } = credentials;
    if (args[id.variable] !== undefined) continue;
    standIns[id.variable] = id.standIn;
    standIns[secret.variable] = secret.standIn;
    standIns[urlVariable] = standInOrigin(port);
  }
  if (args.PROVIDERS_FILE === undefined) standIns.PROVIDERS_FILE = standInProvidersFile(dataDir, port);
  return standIns;
}
