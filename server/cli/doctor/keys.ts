import { createBoxes } from '../../deps.ts';
import { listKeys, loadJwks } from '../../oidc/index.ts';
import { type Database, UnsealError } from '../../store/index.ts';
import type { Setup } from './setup.ts';

export type KeyFacts = Awaited<ReturnType<typeof readKeys>>;

export async function readKeys(database: Database, { config, now }: Setup) {
  const nowMs = now();
  const opens = async (secretKeys: readonly string[]) => {
    try {
      await loadJwks(database, createBoxes(secretKeys).keys, nowMs);
      return true;
    } catch (error) {
      if (error instanceof UnsealError) return false;
      throw error;
    }
  };
  const { SECRET_KEYS: all } = config;
  return {
    keys: await listKeys(database.db, nowMs),
    /** Whether all can be opened; `newest`: with only the first of SECRET_KEY. Undefined without SECRET_KEY. */
    opens: all.length === 0 ? undefined : { all: await opens(all), newest: await opens(all.slice(0, 1)) },
    nowMs,
  };
}
