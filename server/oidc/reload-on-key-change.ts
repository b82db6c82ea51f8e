import type Provider from 'oidc-provider';
import type { JWK } from 'oidc-provider';
import type { Logger } from '../http/index.ts';
import type { Database, SecretBox } from '../store/index.ts';
import { ensureKeys, listKeys, loadJwks } from './signing-key-store.ts';
import { keyVersion, type SigningKeyInfo } from './signing-keys.ts';

export interface KeyWatcher {
  current(): Provider;
  /** Checks at once whether the keys have changed. */
  refresh(): Promise<void>;
  stop(): void;
}

/**
 * Synchronizes the provider with the stored signing keys. The library fixes them at construction, so a change (a
 * rotation, or the moment at which a new key starts to sign) creates a new provider.
 */
export async function watchKeyChanges(settings: {
  database: Database;
  box: SecretBox;
  build: (keys: JWK[]) => Provider;
  refreshMs: number;
  now: () => number;
  log: Logger;
  /** Called at the start and at every change. */
  onKeys: (keys: SigningKeyInfo[]) => void;
}): Promise<KeyWatcher> {
  const { database, box, build, now, log, onKeys } = settings;
  await ensureKeys(database, box, { nowMs: now() });
  let { keys, version } = await loadJwks(database, box, now());
  let provider = build(keys);
  onKeys(await listKeys(database.db, now()));

  async function refresh(): Promise<void> {
    const listed = await listKeys(database.db, now());
    if (keyVersion(listed) === version) return;
    ({ keys, version } = await loadJwks(database, box, now()));
    provider = build(keys);
    onKeys(listed);
    log.info({ keys: version }, 'signing keys changed');
  }

  const timer = setInterval(() => {
    refresh().catch((error: unknown) => log.warn({ err: error }, 'could not read the signing keys'));
  }, settings.refreshMs);
  timer.unref();
  return { current: () => provider, refresh, stop: () => clearInterval(timer) };
}
