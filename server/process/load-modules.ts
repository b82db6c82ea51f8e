import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { Logger } from '../http/index.ts';
import { numberingPlans } from '../messages/index.ts';
import { webAuthn } from '../passkeys/index.ts';

/** The function that loads each module, by its name for the log. */
type Loads = Readonly<Record<string, (() => Promise<unknown>) | undefined>>;

/** The modules that requests load at their first use: they are no part of the start, which they would slow down. */
export const listLateModules = ({ operations, membership }: Pick<App, 'operations' | 'membership'>): Loads => ({
  '@simplewebauthn/server': webAuthn,
  'libphonenumber-js': numberingPlans,
  stripe: membership.sold ? membership.deps.stripe : undefined,
  ...Object.fromEntries(operations.map(({ id, load }) => [id, load])),
});

/** The first requests come before. */
const afterStartMs = 1_000;

/**
 * Loads them one after another, soon after the start: a running process has all its files in memory, so a build in its
 * folder cannot give it files of another release. One that fails is loaded by the first request that needs it.
 */
export async function loadLateModules(loads: Loads, log: Logger, signal: AbortSignal): Promise<void> {
  await sleep(afterStartMs, undefined, { signal, ref: false }).catch(() => {});
  for (const [name, load] of Object.entries(loads)) {
    if (signal.aborted) return;
    try {
      await load?.();
    } catch (error) {
      log.warn({ err: error, module: name }, 'could not load a module: the first request that needs it tries again');
    }
  }
  log.debug('all modules are loaded');
}
