import type { Companion } from '../companion.ts';
import type { Deps } from '../deps.ts';
import { ensureDefaultClient, ensureKeys } from '../oidc/index.ts';
import { isStamped, migrate, stampSandbox } from '../store/index.ts';
import { StartError } from './start-error.ts';

type Announce = (line: string) => void;

/**
 * The work of a start before any request: migrations, the first signing keys, and in the sandbox its stamp and the
 * companion's own preparation.
 */
export async function prepare(deps: Deps, say: Announce, companion?: Companion): Promise<void> {
  const { config, database, boxes, now } = deps;
  const { applied } = await migrate(database);
  if (applied.length > 0)
    say(`Database: applied ${applied.length === 1 ? '1 migration' : `${applied.length} migrations`}`);
  if (config.production && (await isStamped(database))) {
    throw new StartError(
      'This database has been used by a sandbox, so its demo member has a known password: set DATABASE_URL or DATA_DIR to another one.',
    );
  }
  await ensureKeys(database, boxes.keys, { nowMs: now() });
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
    await companion?.prepare(deps);
  }
}

/** Announces the address when everything answers. */
export function announceReady(deps: Deps, say: Announce, companion?: Companion): void {
  const { config } = deps;
  say(`${config.BRAND_NAME} is ready: ${config.PUBLIC_URL}`);
  if (config.SANDBOX) for (const line of companion?.readyLines(deps) ?? []) say(line);
}
