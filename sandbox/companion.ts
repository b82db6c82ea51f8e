import { loadPlans } from '../config/plans.ts';
import { createCatalogue } from '../server/billing/index.ts';
import type { Companion } from '../server/companion.ts';
import { apiReferencePath } from '../server/http/index.ts';
import { standInForStripe } from '../server/module-settings.ts';
import { providersStandIn, sandboxOrigin } from './addresses.ts';
import { billingAddress } from './billing-routes.ts';
import { createSandboxExtensions } from './extensions.ts';
import { mailboxAddress } from './mail-routes.ts';
import { refusalsAddress } from './refusal-routes.ts';
import { demoMember, seedSandbox } from './seed.ts';
import { serveSandbox } from './serve-sandbox.ts';
import { overviewAddress, providersPageAddress } from './views/places.ts';

/** The sandbox, as the server process starts it beside Foyer. */
export const sandbox: Companion = {
  extend: createSandboxExtensions,
  prepare(deps) {
    const catalogue = createCatalogue(loadPlans(deps.config.PLANS_FILE));
    return seedSandbox({ ...deps, catalogue }, sandboxOrigin(deps.config));
  },
  serve: serveSandbox,
  readyLines({ config }) {
    const origin = sandboxOrigin(config);
    return [
      `Sandbox:         ${config.PUBLIC_URL}${overviewAddress}`,
      `Demo member:     ${demoMember.email}  password: ${demoMember.password}`,
      `Demo client app: ${origin}`,
      `Mailbox:         ${config.PUBLIC_URL}${mailboxAddress}`,
      ...(standInForStripe(config) ? [`Billing:         ${config.PUBLIC_URL}${billingAddress}`] : []),
      ...(providersStandIn(config) ? [`Providers:       ${config.PUBLIC_URL}${providersPageAddress}`] : []),
      `Refused:         ${config.PUBLIC_URL}${refusalsAddress}`,
      `JSON API:        ${config.PUBLIC_URL}${apiReferencePath}`,
      'Stop with Ctrl-C.',
    ];
  },
};
