import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Foyer as a client of the sandbox's stand-ins for providers (`sandbox/providers/`). These secrets are worthless
 * elsewhere.
 */
export const standInClients = {
  google: { id: 'foyer-sandbox.apps.googleusercontent.com', secret: 'GOCSPX-sandbox' },
  facebook: { id: '100000000000001', secret: 'sandbox-of-facebook' },
  amazon: { id: 'amzn1.application-oa2-client.sandbox', secret: 'amzn1.oa2-cs.v1.sandbox' },
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

type ProviderEnvironment = Partial<
  Record<'GOOGLE_CLIENT_ID' | 'FACEBOOK_APP_ID' | 'AMAZON_CLIENT_ID' | 'PROVIDERS_FILE', string>
>;

/** The sandbox's own stand-in for each provider that is not configured. */
export function standInForProviders(args: ProviderEnvironment, dataDir: string, port: number) {
  const origin = standInOrigin(port);
  const { google, facebook, amazon } = standInClients;
  return {
    ...(args.GOOGLE_CLIENT_ID === undefined && {
      GOOGLE_CLIENT_ID: google.id,
      GOOGLE_CLIENT_SECRET: google.secret,
      GOOGLE_URL: origin,
    }),
    ...(args.FACEBOOK_APP_ID === undefined && {
      FACEBOOK_APP_ID: facebook.id,
      FACEBOOK_APP_SECRET: facebook.secret,
      FACEBOOK_URL: origin,
    }),
    ...(args.AMAZON_CLIENT_ID === undefined && {
      AMAZON_CLIENT_ID: amazon.id,
      AMAZON_CLIENT_SECRET: amazon.secret,
      AMAZON_URL: origin,
    }),
    ...(args.PROVIDERS_FILE === undefined && { PROVIDERS_FILE: standInProvidersFile(dataDir, port) }),
  };
}
