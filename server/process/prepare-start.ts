import { loadPlans } from '../../config/plans.ts';
import { billingAddress, demoMember, mailboxAddress, providersPath, seedSandbox } from '../../sandbox/index.ts';
import { sandboxOrigin } from '../../sandbox/serve-sandbox.ts';
import { providersStandIn, standInForStripe } from '../config-of-rooms.ts';
import type { Deps } from '../deps.ts';
import { createCatalogue } from '../membership/index.ts';
import { ensureDefaultClient, ensureKeys } from '../oidc/index.ts';
import { isStamped, migrate, stampSandbox } from '../store/index.ts';
import { StartError } from './start-error.ts';

type Announce = (line: string) => void;

/**
 * The work of a start before any request: migrations, the first signing keys, and in the sandbox its stamp, demo user
 * and demo client app.
 */
export async function prepare(deps: Deps, say: Announce): Promise<void> {
  const { config, database, boxes, now } = deps;
  const { applied } = await migrate(database);
  if (applied.length > 0)
    say(`Database: applied ${applied.length === 1 ? '1 migration' : `${applied.length} migrations`}`);
  if (config.production && (await isStamped(database))) {
    throw new StartError(
      'This database has been used by a sandbox, so its demo member has a known password: set DATABASE_URL or DATA_DIR to another one.',
    );
  }
  await ensureKeys(database, boxes.keys, now());
  await ensureDefaultClient(
    database,
    {
      id: config.DEFAULT_CLIENT_ID,
      name: config.BRAND_NAME,
      publicUrl: config.PUBLIC_URL,
      development: !config.production,
    },
    now(),
  );
  if (config.SANDBOX) {
    await stampSandbox(database, now());
    const catalogue = createCatalogue(loadPlans(config.PLANS_FILE));
    await seedSandbox({ ...deps, catalogue }, sandboxOrigin(deps));
  }
}

/** Announces the address when everything answers. */
export function announceReady(deps: Deps, say: Announce): void {
  const { config } = deps;
  say(`${config.BRAND_NAME} is ready: ${config.PUBLIC_URL}`);
  if (!config.SANDBOX) return;
  say(`Demo member:     ${demoMember.email}  password: ${demoMember.password}`);
  say(`Demo client app: ${sandboxOrigin(deps)}`);
  say(`Mailbox:         ${config.PUBLIC_URL}${mailboxAddress}`);
  if (standInForStripe(config)) say(`Billing:         ${config.PUBLIC_URL}${billingAddress}`);
  if (providersStandIn(config)) say(`Providers:       ${sandboxOrigin(deps)}${providersPath}`);
  say('Stop with Ctrl-C.');
}
