import type { Config } from '../config/load.ts';
import { standInOrigin, standInProvidersFile } from '../config/stand-in-providers.ts';
import { standardKinds, standardProviders } from '../config/standard-providers.ts';
import { standInForStripe } from '../server/module-settings.ts';
import { billingAddress } from './billing-routes.ts';
import { mailboxAddress, templatesAddress } from './mail-routes.ts';
import { refusalsAddress } from './refusal-routes.ts';
import { televisionPath } from './television-path.ts';
import { providersPageAddress, type SandboxPlaces } from './views/places.ts';

/** The origin of the demo client app and the stand-ins: another site than Foyer's own, which is on localhost. */
export const sandboxOrigin = ({ SANDBOX_PORT }: Config): string => standInOrigin(SANDBOX_PORT);

/** The address of the stand-ins for providers, if Foyer uses one of them. */
export function providersStandIn(config: Config): string | undefined {
  const { SANDBOX, SANDBOX_PORT, DATA_DIR, PROVIDERS_FILE } = config;
  const origin = sandboxOrigin(config);
  const requested =
    PROVIDERS_FILE === standInProvidersFile(DATA_DIR, SANDBOX_PORT) ||
    standardKinds.some((kind) => config[standardProviders[kind].urlVariable] === origin);
  return SANDBOX && requested ? origin : undefined;
}

/** The addresses of everything in the sandbox; without those that this configuration has no stand-in for. */
export function sandboxPlaces(config: Config): SandboxPlaces {
  const origin = sandboxOrigin(config);
  return {
    demoApp: origin,
    television: origin + televisionPath,
    mailbox: mailboxAddress,
    mails: templatesAddress,
    ...(standInForStripe(config) && { billing: billingAddress }),
    ...(providersStandIn(config) !== undefined && { providers: providersPageAddress }),
    refusals: refusalsAddress,
    search: '/sandbox/search',
    main: '/sandbox/main',
    account: '/sandbox/account',
    help: '/sandbox/help',
    privacy: '/sandbox/privacy',
    parts: '/sandbox/parts',
  };
}
