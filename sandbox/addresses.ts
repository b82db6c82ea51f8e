import type { Config } from '../config/load.ts';
import { standInOrigin, standInProvidersFile } from '../config/stand-in-providers.ts';
import { standardKinds, standardProviders } from '../config/standard-providers.ts';
import { standInForStripe } from '../server/module-settings.ts';
import { billingAddress } from './billing-routes.ts';
import { mailboxAddress } from './mail-routes.ts';
import { providersPath } from './providers/path.ts';
import { refusalsAddress } from './refusal-routes.ts';
import type { BannerLinks } from './views/banner.tsx';

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

/** The links of the ribbon on every page. */
export function bannerLinks(config: Config): BannerLinks {
  const providers = providersStandIn(config);
  return {
    mailbox: mailboxAddress,
    ...(standInForStripe(config) && { billing: billingAddress }),
    ...(providers !== undefined && { providers: providers + providersPath }),
    refusals: refusalsAddress,
  };
}
