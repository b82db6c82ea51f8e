import { Readable } from 'node:stream';
import { type CliIo, runCli } from '../../server/cli/index.ts';
import type { TestFoyer } from './foyer.ts';
import type { Backend, StoreUrls } from './stores.ts';

/** The result of one run of the operator's command. */
export interface CliRun {
  code: number;
  out: string;
  err: string;
  /** Standard output as JSON. */
  json<T = Record<string, unknown>>(): T;
}

export interface Cli {
  (...argv: string[]): Promise<CliRun>;
  /** With something on standard input. */
  withInput(input: string | string[], ...argv: string[]): Promise<CliRun>;
}

export const cliSecretKey = 'a secret key that is used by tests alone';

/** The operator's command in this process, on these stores. */
export function cliOn(
  urls: Pick<StoreUrls, 'databaseUrl' | 'redisUrl' | 'dataDir'>,
  environment: Record<string, string> = {},
  now?: () => number,
  web?: CliIo['web'],
): Cli {
  const env = {
    NODE_ENV: 'development',
    DATABASE_URL: urls.databaseUrl,
    REDIS_URL: urls.redisUrl,
    DATA_DIR: urls.dataDir,
    SECRET_KEY: cliSecretKey,
    ...environment,
  };
  async function withInput(input: string | string[], ...argv: string[]): Promise<CliRun> {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runCli(argv, {
      env,
      stdin: Readable.from([input].flat().map((part) => Buffer.from(part))),
      stdout: { write: (text) => out.push(text) },
      stderr: { write: (text) => err.push(text) },
      ...(now && { now }),
      ...(web && { web }),
    });
    const text = out.join('');
    return { code, out: text, err: err.join(''), json: () => JSON.parse(text) };
  }
  return Object.assign((...argv: string[]) => withInput('', ...argv), { withInput });
}

/** The operator's command for this Foyer: the same stores, key and settings. */
export function cliOf(foyer: TestFoyer, environment: Record<string, string> = {}): Cli {
  const { config } = foyer.deps;
  return cliOn(foyer.stores.urls, {
    PUBLIC_URL: foyer.url,
    SECRET_KEY: config.SECRET_KEYS.join(),
    KEYS_REFRESH_SECONDS: String(config.KEYS_REFRESH_SECONDS),
    REMEMBER_ME_DAYS: String(config.REMEMBER_ME_DAYS),
    ...environment,
  });
}

/** New stores with all tables for each test of a block. @param use gets the operator's command for them before each test */
export function eachCli(backend: Backend, use: (cli: Cli) => void): void {
  let remove: (() => Promise<void>) | undefined;
  beforeEach(async () => {
    const reserved = await backend.reserve({ migrated: true });
    remove = reserved.remove;
    use(cliOn(reserved.urls));
  });
  afterEach(() => remove?.());
}
