import type { LookupFunction } from 'node:net';
import { type Config, inspectConfig } from '../../../config/load.ts';
import type { SecretBoxes } from '../../deps.ts';
import { createBoxes } from '../../deps.ts';
import { createRedactor, listSecrets } from './clean.ts';

/** What the checks look at. */
export interface Setup {
  faults: readonly string[];
  /** Whether a variable was given and cannot be read: what it decides is then not looked at. */
  unreadable(name: string): boolean;
  config: Config;
  /** Undefined without SECRET_KEY. */
  boxes: SecretBoxes | undefined;
  env: NodeJS.ProcessEnv;
  now(): number;
  /** Another's error in words, without secrets. */
  say(error: unknown): string;
  web: Web;
}

/** How addresses are reached; a test has its own. */
export interface Web {
  /** Certificate authorities beside the usual ones (PEM). */
  ca?: string;
  lookup?: LookupFunction;
  /** TXT records by their name. */
  resolveTxt?: (name: string) => Promise<string[][]>;
  /** The port of http:// that should redirect. */
  plainPort?: number;
  /** For each question (milliseconds). */
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
