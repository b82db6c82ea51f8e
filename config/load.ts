import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  cookieDomainFaults,
  developmentKeyPrefix,
  findHostFaults,
  findPortFaults,
  findProductionFaults,
  findProviderFaults,
  findPublicUrlFaults,
  findSmsFaults,
  findStripeFaults,
  mailTemplateFaults,
  searchAppAddressFaults,
  searchAppFaults,
} from './checks.ts';
import { readProxyNames } from './outgoing-proxy.ts';
import { type RawConfig, schema } from './schema.ts';
import { standInForProviders, writtenProvidersFile } from './stand-in-providers.ts';

export { isLoopback } from './checks.ts';

/** The configuration for the product: every optional value has its default. */
export interface Config
  extends Omit<
    RawConfig,
    'SECRET_KEY' | 'PUBLIC_URL' | 'SANDBOX' | 'SANDBOX_PORT' | 'LOG_LEVEL' | 'HOST' | 'PREVENT_USER_EXISTENCE_ERRORS'
  > {
  PUBLIC_URL: string;
  HOST: string;
  /** Newest first: the first seals, all open. */
  SECRET_KEYS: string[];
  SANDBOX: boolean;
  SANDBOX_PORT: number;
  LOG_LEVEL: string;
  /** Answers do not reveal whether a user exists. */
  PREVENT_USER_EXISTENCE_ERRORS: boolean;
  production: boolean;
  /** Cookies have Secure and the `__Host-` prefix. */
  https: boolean;
}

/** Every fault of the configuration together, each with its variable and the remedy. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((f) => `  - ${f}`).join('\n')}`,
    );
    this.faults = faults;
  }
}

/** A development key for this folder: generated once, by the process that comes first. */
function developmentKey(dataDir: string): string {
  const file = join(dataDir, developmentKeyFile);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const draft = `${file}.${process.pid}`;
    // With the prefix production can refuse a development key.
    writeFileSync(draft, `${developmentKeyPrefix}${randomBytes(36).toString('base64url')}`, { mode: 0o600 });
    try {
      linkSync(draft, file);
    } catch (error) {
      if (Reflect.get(Object(error), 'code') !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    return readFileSync(file, 'utf8');
  }
}

const developmentKeyFile = 'development-secret-key';

const isOwn = (name: string) => Object.hasOwn(schema.shape, name);

/** Docker and some shells leave the CR of a file from Windows in each value, where it is not seen. */
function findLineEndFaults(args: Partial<Record<string, string>>): string[] {
  const names = Object.keys(args).filter((name) => isOwn(name) && args[name]?.endsWith('\r'));
  if (names.length === 0) return [];
  return [
    `${names.join(', ')}: the value ends with a carriage return; save the file of the environment with line ends of Unix (LF)`,
  ];
}

/** Their own fault is enough. */
const withoutLineEnds = (args: Partial<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, isOwn(name) ? value?.replace(/\r$/, '') : value]),
  );

/** The faults and the raw values. */
function judge(environment: NodeJS.ProcessEnv) {
  // `NAME=` in a file gives an empty variable, which counts as not set.
  const entered = {
    ...Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== '')),
    ...readProxyNames(environment),
  } as Partial<Record<string, string>>;
  const args = withoutLineEnds(entered);
  const parsed = schema.safeParse(args);
  const faults = [
    ...findLineEndFaults(entered),
    ...(parsed.error?.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`) ?? []),
    ...(args.NODE_ENV === 'production' ? findProductionFaults(args) : findPublicUrlFaults(args)),
    ...findHostFaults(args),
    ...findPortFaults(args),
    ...searchAppFaults(args),
    ...searchAppAddressFaults(args),
    ...cookieDomainFaults(args),
    ...mailTemplateFaults(args),
    ...findSmsFaults(args),
    ...findStripeFaults(args),
    ...findProviderFaults(args),
  ];
  return { given: args, parsed, faults };
}

/** The sandbox's own stand-in, on another site than Foyer. Its keys are worthless elsewhere. */
function standInForStripe(port: number) {
  const origin = `http://127.0.0.1:${port}`;
  return {
    STRIPE_SECRET_KEY: 'sk_test_sandbox',
    STRIPE_PUBLISHABLE_KEY: 'pk_test_sandbox',
    STRIPE_WEBHOOK_SECRET: 'whsec_sandbox',
    STRIPE_API_URL: origin,
    STRIPE_JS_URL: `${origin}/stripe.js`,
  };
}

/** The services of a development start: stand-ins for all that are not configured. */
const developmentServices = (raw: RawConfig, dataDir: string, port: number) => ({
  ...(raw.STRIPE_SECRET_KEY === undefined && standInForStripe(port)),
  ...standInForProviders(raw, dataDir, port),
});

/** @param secretKeysFor SECRET_KEY for this folder if none is set */
function toConfig(raw: RawConfig, secretKeysFor: (dataDir: string) => string[]): Config {
  const publicUrl = raw.PUBLIC_URL ?? `http://localhost:${raw.PORT}`;
  const dataDir = resolve(raw.DATA_DIR);
  const { SECRET_KEY, ...rest } = raw;
  const sandbox = raw.SANDBOX ?? raw.NODE_ENV === 'development';
  const sandboxPort = raw.SANDBOX_PORT ?? (raw.PORT < 65_535 ? raw.PORT + 1 : raw.PORT - 1);
  return {
    ...rest,
    ...(sandbox && raw.NODE_ENV === 'development' && developmentServices(raw, dataDir, sandboxPort)),
    DATA_DIR: dataDir,
    PUBLIC_URL: publicUrl,
    HOST: raw.HOST ?? (raw.NODE_ENV === 'production' ? '0.0.0.0' : '127.0.0.1'),
    SECRET_KEYS: SECRET_KEY ? SECRET_KEY.split(',') : secretKeysFor(dataDir),
    SANDBOX: sandbox,
    // In development the log goes to a terminal, which shows only lines that need attention.
    LOG_LEVEL: raw.LOG_LEVEL ?? (raw.NODE_ENV === 'production' ? 'info' : 'warn'),
    PREVENT_USER_EXISTENCE_ERRORS: raw.PREVENT_USER_EXISTENCE_ERRORS ?? raw.NODE_ENV === 'production',
    SANDBOX_PORT: sandboxPort,
    production: raw.NODE_ENV === 'production',
    https: publicUrl.startsWith('https:'),
  };
}

/**
 * Reads the configuration from environment variables.
 * @throws {ConfigurationError} with all faults
 */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const { parsed, faults } = judge(environment);
  if (!parsed.success || faults.length > 0) throw new ConfigurationError(faults);
  return toConfig(parsed.data, (dataDir) => [developmentKey(dataDir)]);
}

/** A configuration that may have faults. */
interface InspectedConfig {
  faults: readonly string[];
  /** Set but unreadable variables; `config` has their defaults. */
  unreadable: ReadonlySet<string>;
  /** SECRET_KEYS is empty if there is none, PUBLIC_URL a guess if it is missing. */
  config: Config;
}

/** The readable part of a configuration with faults, for diagnosis. Generates no key. */
export function inspectConfig(environment: NodeJS.ProcessEnv): InspectedConfig {
  const { given: args, parsed, faults } = judge(environment);
  const unreadable = new Set(parsed.error?.issues.map((issue) => String(issue.path[0])));
  const raw = schema.parse(Object.fromEntries(Object.entries(args).filter(([name]) => !unreadable.has(name))));
  const secretKeysFor = (dataDir: string) => {
    // A production server would not accept it.
    if (raw.NODE_ENV === 'production' || unreadable.has('SECRET_KEY')) return [];
    try {
      return [readFileSync(join(dataDir, developmentKeyFile), 'utf8')];
    } catch {
      return [];
    }
  };
  const config = toConfig(raw, secretKeysFor);
  return { faults, unreadable, config: { ...config, PROVIDERS_FILE: writtenProvidersFile(config) } };
}
