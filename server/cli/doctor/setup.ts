import type { LookupFunction } from 'node:net';
import { type Config, inspectConfig } from '../../../config/load.ts';
import { createRedactor, listSecrets } from '../../../config/redact.ts';
import type { SecretBoxes } from '../../deps.ts';
import { createBoxes } from '../../deps.ts';

/** The input of the checks. */
export interface Setup {
  faults: readonly string[];
  /** Tests whether a variable is set but unreadable: checks that depend on it are skipped. */
  unreadable(name: string): boolean;
  config: Config;
  /** Undefined without SECRET_KEY. */
  boxes: SecretBoxes | undefined;
  env: NodeJS.ProcessEnv;
  now(): number;
  /** An error from elsewhere as text, without secrets. */
  say(error: unknown): string;
  web: Web;
}

/** The network access; tests replace it. */
export interface Web {
  /** Certificate authorities besides the usual ones (PEM). */
  ca?: string;
  lookup?: LookupFunction;
  /** TXT records by their name. */
  resolveTxt?: (name: string) => Promise<string[][]>;
  /** The port of http:// that should redirect. */
  plainPort?: number;
  /** For each request (milliseconds). */
  limitMs?: number;
}

export function readSetup(env: NodeJS.ProcessEnv, now: () => number, web: Web = {}): Setup {
  const { faults, unreadable, config } = inspectConfig(env);
  const keys = config.SECRET_KEYS;
  return {
    faults,
    unreadable: (name) => unreadable.has(name),
    config,
    boxes: keys.length === 0 ? undefined : createBoxes(keys),
    env,
    now,
    say: createRedactor(listSecrets(env, keys)),
    web,
  };
}
