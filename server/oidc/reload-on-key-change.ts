import type Provider from 'oidc-provider';
import type { JWK } from 'oidc-provider';
import type { Logger } from '../http/index.ts';
import type { Metrics } from '../shared/index.ts';
import type { Database, SecretBox } from '../store/index.ts';
import { ensureKeys, listKeys, loadJwks } from './signing-key-store.ts';
import { keyVersion, type SigningKeyInfo } from './signing-keys.ts';

type BuildProvider = (keys: JWK[]) => Provider;

interface KeyWatcher {
  /** Builds the first provider, and begins to check for changes. */
  start(build: BuildProvider): Promise<void>;
  /** @throws Error before the start */
  current(): Provider;
  /** Checks at once whether the keys have changed. */
  refresh(): Promise<void>;
  stop(): void;
}

interface KeyWatcherSettings {
  database: Database;
  keysBox: SecretBox;
  keysRefreshMs: number;
  metrics: Pick<Metrics, 'signingKeys'>;
  now: () => number;
  log: Logger;
}

/**
 * Synchronizes the provider with the stored signing keys. The library fixes them at construction, so a change (a
 * rotation, or the moment at which a new key starts to sign) creates a new provider.
 */
export function createKeyWatcher(settings: KeyWatcherSettings): KeyWatcher {
  const { database, keysBox, keysRefreshMs, metrics, now, log } = settings;
  let started: { build: BuildProvider; provider: Provider; version: string } | undefined;
  let timer: NodeJS.Timeout | undefined;

  const report = (keys: readonly SigningKeyInfo[]) =>
    metrics.signingKeys(keys.filter(({ state }) => state === 'active'));

  async function load(build: BuildProvider): Promise<string> {
    const { keys, version } = await loadJwks(database, keysBox, now());
    started = { build, provider: build(keys), version };
    return version;
  }

  async function refresh(): Promise<void> {
    const listed = await listKeys(database.db, now());
    if (!started || keyVersion(listed) === started.version) return;
    const version = await load(started.build);
    report(listed);
    log.info({ keys: version }, 'signing keys changed');
  }

  return {
    async start(build) {
      await ensureKeys(database, keysBox, { nowMs: now() });
      await load(build);
      report(await listKeys(database.db, now()));
      timer = setInterval(() => {
        refresh().catch((error: unknown) => log.warn({ err: error }, 'could not read the signing keys'));
      }, keysRefreshMs);
      timer.unref();
    },
    current() {
      if (!started) throw new Error('the provider is not started');
      return started.provider;
    },
    refresh,
    stop: () => clearInterval(timer),
  };
}
