import type { Transaction } from 'kysely';
import type { Logger, RequestServices } from '../http/index.ts';
import type { Codes, Outbox } from '../messages/index.ts';
import type { DeviceRecognition, Sessions } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { Database, KeyValueStore, Schema } from '../store/index.ts';
import type { GuessLimits } from './guess-limits.ts';
import type { PasswordHasher } from './hash.ts';
import type { PasswordPolicy } from './policy.ts';
import type { QueueFullAnswer } from './queue.ts';
import { createRecentResets, type RecentResets } from './recent-resets.ts';
import { createResetRecords, type ResetRecords } from './reset-records.ts';

/** Dependencies of this module's rules, which do not know requests. */
export interface PasswordRuleDeps {
  database: Database;
  kv: KeyValueStore;
  passwords: PasswordHasher;
  policy: PasswordPolicy;
  codes: Codes;
  outbox: Outbox;
  sessions: Pick<Sessions, 'endAll'>;
  flows: ResetRecords;
  /** The same as at the sign-in; codes and their attempts have separate counters. */
  limits: GuessLimits;
  /** One answer whether or not the user exists. */
  uniformAnswers: boolean;
  log: Logger;
  now: () => number;
}

/**
 * Links with providers that were made at or after a time. federation/ implements it, because it belongs to a higher
 * layer.
 */
interface RecentLinkStore {
  /** Names that the user recognizes. Times in milliseconds since the epoch. */
  list(userId: UserId, sinceMs: number): Promise<{ id: string; name: string; createdAt: number }[]>;
  /** @returns the number */
  remove(trx: Transaction<Schema>, which: { userId: UserId; sinceMs: number; nowMs: number }): Promise<number>;
}

/** The dependencies of the pages and calls too. */
export interface PasswordDeps extends PasswordRuleDeps, RequestServices {
  sessions: Pick<Sessions, 'endAll' | 'createSession' | 'getCurrentUser'>;
  devices: DeviceRecognition;
  afterReset: RecentResets;
  lateLinks: RecentLinkStore;
  queueFull: QueueFullAnswer;
}

/** Adds the stores of this module to the dependencies from `wiring.ts`. */
export function createPasswordDeps(settings: Omit<PasswordDeps, 'flows' | 'afterReset'>): PasswordDeps {
  const { kv, cookies } = settings;
  return { ...settings, flows: createResetRecords(kv, cookies), afterReset: createRecentResets(kv, cookies) };
}
