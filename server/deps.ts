import cluster from 'node:cluster';
import { join } from 'node:path';
import { type Config, ConfigurationError } from '../config/load.ts';
import { createCarriers } from './carriers.ts';
import type { Extender, Extensions } from './extensions.ts';
import { createHooks, type Hooks } from './hooks.ts';
import { type Assets, createLog, type Logger, loadAssets } from './http/index.ts';
import { applyTexts, loadLegalTexts, loadSettings } from './load-settings.ts';
import {
  type Carriers,
  createMessages,
  type MailAddress,
  type MailLook,
  type Outbox,
  type OutboxWorker,
} from './messages/index.ts';
import { createMetrics, type OpenMetrics } from './metrics/index.ts';
import { logoutCarrier } from './oidc/index.ts';
import { setOutgoingProxy } from './outgoing-proxy.ts';
import { createDecoyHashes, createPasswordHasher, type HashCost, type PasswordHasher } from './password/index.ts';
import { noMetrics, propertyIn } from './shared/index.ts';
import type { Legal } from './sign-in/index.ts';
import {
  cachingSecretBox,
  createSecretBox,
  type Database,
  type KeyValueStore,
  openDatabase,
  openKeyValue,
  type SecretBox,
  type StoreObserver,
} from './store/index.ts';
import type { TermsVersion } from './users/index.ts';

/** The dependencies of the product; `wiring.ts` passes them to the modules. */
export interface Deps {
  config: Config;
  log: Logger;
  database: Database;
  kv: KeyValueStore;
  assets: Assets;
  /** The folder with the files of `assets`. */
  clientDir: string;
  passwords: PasswordHasher;
  boxes: SecretBoxes;
  outbox: Outbox;
  /** Delivers the messages in the outbox; `process/` starts it. */
  outboxWorker: OutboxWorker;
  /**
   * Whether text messages can be sent: otherwise neither a second factor by SMS nor the confirmation of a number is
   * offered.
   */
  smsOffered: boolean;
  /** The operator's legal documents. */
  legal: Legal;
  /** The current terms. */
  terms: TermsVersion;
  metrics: OpenMetrics;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Stripe's time, if it differs. */
  billingNow?: (() => number) | undefined;
  /** Tests record the events. Undefined: new ones. */
  hooks?: Hooks | undefined;
}

/** One box per purpose: keys of different purposes reveal nothing about each other. */
export interface SecretBoxes {
  oidc: SecretBox;
  keys: SecretBox;
  outbox: SecretBox;
  mfa: SecretBox;
  contact: SecretBox;
  federation: SecretBox;
  forms: SecretBox;
}

/** Tests whether text messages can be sent: only then are they offered. */
export function isSmsOffered(config: Config): boolean {
  return config.SANDBOX || config.TWILIO_ACCOUNT_SID !== undefined;
}

export function createBoxes(secretKeys: readonly string[]): SecretBoxes {
  return {
    // A code, a token or a session is used again within seconds, mostly by the process that wrote it.
    oidc: cachingSecretBox(createSecretBox(secretKeys, 'oidc records')),
    keys: createSecretBox(secretKeys, 'signing keys'),
    outbox: createSecretBox(secretKeys, 'outbox'),
    mfa: createSecretBox(secretKeys, 'secrets of authenticator apps'),
    contact: createSecretBox(secretKeys, 'changes of addresses and numbers'),
    federation: createSecretBox(secretKeys, 'attempts at providers'),
    forms: createSecretBox(secretKeys, 'forms after their redirect'),
  };
}

/** The folder of the built client, beside this file's folder in dist/; from the sources it is dist/client too. */
export function builtClientDir(context: string): string {
  const root = join(context, '..');
  return root.endsWith('dist') ? join(root, 'client') : join(root, 'dist', 'client');
}

/** The settings of password hashing, for the server and for commands. */
export const toHashing = (config: Config): { cost: HashCost; secretKeys: readonly string[] } => ({
  cost: { memoryCost: config.ARGON2_MEMORY_KIB, timeCost: config.ARGON2_PASSES, parallelism: 1 },
  secretKeys: config.SECRET_KEYS,
});

/** An address that the schema accepts and the store's library rejects becomes a fault of its variable. */
function asAddressFault(variable: 'DATABASE_URL' | 'REDIS_URL'): (error: unknown) => never {
  return (error) => {
    const code = propertyIn(error, 'code');
    // The parameters sslrootcert, sslcert and sslkey name files.
    if (code === 'ENOENT' || code === 'EACCES')
      throw new ConfigurationError([`${variable}: ${String(propertyIn(error, 'path'))} cannot be read (${code})`]);
    if (!(error instanceof TypeError || code === 'ERR_INVALID_URL')) throw error;
    throw new ConfigurationError([`${variable}: ${String(propertyIn(error, 'message'))}`]);
  };
}

/**
 * Opens both stores.
 * @throws {StoreUnavailable} if one does not answer
 * @throws {ConfigurationError} if an address cannot be read
 */
export async function openStores(
  config: Config,
  log: Logger,
  metrics: OpenMetrics = noMetrics,
): Promise<{ database: Database; kv: KeyValueStore }> {
  const observer = (store: 'database' | 'key-value'): StoreObserver | undefined =>
    metrics.on
      ? (operation, durationMs, outcome) => metrics.storeAnswered({ store, operation, durationMs, outcome })
      : undefined;
  const say = (message: string, error: Error) => log.warn({ err: error }, message);
  const database = await openDatabase({
    url: config.DATABASE_URL,
    dataDir: config.DATA_DIR,
    log: say,
    observe: observer('database'),
  }).catch(asAddressFault('DATABASE_URL'));
  try {
    const kv = await openKeyValue({
      url: config.REDIS_URL,
      dataDir: config.DATA_DIR,
      log: say,
      observe: observer('key-value'),
    }).catch(asAddressFault('REDIS_URL'));
    return { database, kv };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The common parts of all mails. */
export function mailBrand(config: Config): MailLook {
  return {
    publicUrl: config.PUBLIC_URL,
    brandName: config.BRAND_NAME,
    brandLogoUrl: config.BRAND_LOGO_URL,
    brandAccent: config.BRAND_ACCENT,
    helpUrl: config.HELP_URL,
    supportAddress: config.MAIL_SUPPORT_ADDRESS,
  };
}

/** The sender of mails. */
export function mailSender(config: Config): MailAddress {
  return { name: config.BRAND_NAME, address: `no-reply@${new URL(config.PUBLIC_URL).hostname}`, ...config.MAIL_FROM };
}

/** The outbox and its worker, from the configuration. */
export function createMessaging(
  deps: Pick<Deps, 'config' | 'log' | 'database' | 'boxes' | 'metrics' | 'now' | 'hooks'>,
  carriers: Carriers,
): { outbox: Outbox; outboxWorker: OutboxWorker } {
  const { config } = deps;
  const logout = logoutCarrier({
    database: deps.database,
    keysBox: deps.boxes.keys,
    issuer: config.PUBLIC_URL,
    development: !config.production,
    now: deps.now,
  });
  return createMessages({
    ...deps,
    box: deps.boxes.outbox,
    carriers: { logout, ...carriers },
    from: mailSender(config),
    replyTo: config.MAIL_SUPPORT_ADDRESS,
    look: mailBrand(config),
    templates: config.SENDGRID_TEMPLATES ?? new Map(),
    record: deps.hooks?.onAct,
  });
}

/**
 * @param extender makes the extensions, if the configuration has the sandbox on
 * @throws {ConfigurationError}
 */
export async function createDeps(
  environment: NodeJS.ProcessEnv,
  extender?: Extender,
): Promise<{ deps: Deps; extensions: Extensions }> {
  const config = loadSettings(environment);
  if (config.SANDBOX && !extender)
    throw new ConfigurationError(['SANDBOX: this program has no sandbox; run "npm start", or set SANDBOX=false']);
  setOutgoingProxy(config);
  const log = createLog(config.LOG_LEVEL);
  // The primary of several processes counts nothing itself.
  const counts = config.WEB_CONCURRENCY === 1 || cluster.isWorker;
  const metrics = counts ? await createMetrics(config.METRICS_PORT) : noMetrics;
  const clientDir = builtClientDir(import.meta.dirname);
  const assets = loadAssets(clientDir);
  const boxes = createBoxes(config.SECRET_KEYS);
  const legal = loadLegalTexts(config);
  applyTexts(config);
  const stores = await openStores(config, log, metrics);
  const now = Date.now;
  const extensions = config.SANDBOX && extender ? extender.extend({ config, kv: stores.kv, now }) : {};
  const carriers = await createCarriers(config, extensions);
  const hooks = createHooks();
  const deps: Deps = {
    config,
    log,
    ...stores,
    assets,
    clientDir,
    passwords: createPasswordHasher({
      queueMax: config.PASSWORD_QUEUE_MAX,
      waitMs: config.PASSWORD_QUEUE_WAIT_MS,
      shares: { account: config.PASSWORD_QUEUE_ACCOUNT, address: config.PASSWORD_QUEUE_ADDRESS },
      ...toHashing(config),
      metrics,
      // If answers reveal whether a user exists, the time need not hide it.
      decoys: config.PREVENT_USER_EXISTENCE_ERRORS ? createDecoyHashes(stores.database, now) : undefined,
    }),
    boxes,
    ...createMessaging({ config, log, ...stores, boxes, metrics, now, hooks }, carriers),
    smsOffered: isSmsOffered(config),
    legal,
    terms: legal.version,
    metrics,
    now,
    billingNow: extensions.billingClock?.now,
    hooks,
  };
  return { deps, extensions };
}
