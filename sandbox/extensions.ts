import { createStandInClock } from '../server/billing/index.ts';
import { mailBrand } from '../server/deps.ts';
import type { ExtensionBase, Extensions } from '../server/extensions.ts';
import { standInForStripe } from '../server/module-settings.ts';
import { providersStandIn, sandboxPlaces } from './addresses.ts';
import { createSandboxMailbox } from './mailbox.ts';
import { sandboxAccess } from './page-access.ts';
import { createSandboxRefusals } from './refusals.ts';
import { sandboxRoutes, standInLinks } from './routes.ts';
import { demoMember } from './seed.ts';
import { createBanner } from './views/banner.tsx';
import { overviewAddress } from './views/places.ts';

/** The source of the styles of the ribbon, and of the sandbox's own pages. */
export const sandboxStylesheet = 'sandbox/client/sandbox.css';

/**
 * The sandbox's extensions of Foyer: its pages, its ribbon, its mailbox instead of the carriers, the stand-in's time.
 */
export function createSandboxExtensions({ config, kv, now }: ExtensionBase) {
  const mailbox = createSandboxMailbox({ kv, now });
  const refusals = createSandboxRefusals({ kv, now });
  const places = sandboxPlaces(config);
  const standIn = standInForStripe(config);
  const billingClock = standIn && createStandInClock(standIn, now);
  return {
    routes: {
      access: sandboxAccess,
      add(router, { pages, sessions, runBillingJobs }) {
        const dayPassed = async () => {
          await billingClock?.refresh();
          await runBillingJobs();
        };
        sandboxRoutes(router, {
          pages,
          sessions,
          mailbox,
          look: mailBrand(config),
          refusals,
          standIn,
          dayPassed,
          places,
          providersOrigin: providersStandIn(config),
        });
      },
    },
    carriers: mailbox.carriers,
    // A page for developers may miss a line while the store is away; the log has it.
    onRefusal: (refusal) => void refusals.add(refusal).catch(() => {}),
    ...(billingClock && { billingClock }),
    layoutBanner: createBanner({ places, overview: overviewAddress, demoMember }),
    assets: { stylesheet: sandboxStylesheet },
    links: standInLinks,
  } satisfies Extensions;
}
