import type { Transaction } from 'kysely';
import type { Logger, Pages } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Sessions } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../store/index.ts';
import type { User } from '../users/index.ts';

/**
 * A module's stored data about a user: exported on request, and erased with the account. One list for both, so that
 * they cannot differ.
 */
export interface PersonalDataSource {
  /** Its name in the exported file. */
  name: string;
  /** As JSON, in the names of the specification if there are any. For secrets only their existence and time. */
  exportData(user: User): Promise<unknown>;
  erase(trx: Transaction<Schema>, user: User, nowMs: number): Promise<void>;
}

/** How a paid membership ends with the account. */
export type CancellationTiming = 'period-end' | 'at-once';

/** A membership that renews, for the question to the user. */
export interface RenewingSubscription {
  /** Undefined: the plan is not in the catalogue any more. */
  planName: string | undefined;
  /** End of the paid period (milliseconds since the epoch). */
  until: number | null;
  /** Its renewal could not be charged, so there is no paid period to wait for. */
  unpaid: boolean;
}

/** The handling of a membership that renews. */
export interface SubscriptionOnDeletion {
  /** undefined: there is none, or it already ends. */
  findRenewing(userId: UserId, nowMs: number): Promise<RenewingSubscription | undefined>;
  /** @returns data for `resumeAfterCancellation`; null: there is none, or it already ends */
  cancelOnDeletion(
    trx: Transaction<Schema>,
    userId: UserId,
    timing: CancellationTiming,
    nowMs: number,
  ): Promise<string | null>;
  /** @param noted from `cancelOnDeletion` */
  resumeAfterCancellation(trx: Transaction<Schema>, userId: UserId, noted: string, nowMs: number): Promise<void>;
}

/** Dependencies of this module's rules, which do not know requests. */
export interface DeletionDeps {
  publicUrl: string;
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  sessions: Pick<Sessions, 'endAll' | 'list'>;
  /** The sources of all modules with personal data. */
  personalDataSources: readonly PersonalDataSource[];
  /** Injected, because membership/ is in the same layer. */
  membership: SubscriptionOnDeletion;
  log: Logger;
  now: () => number;
}

/** The dependencies from `wiring.ts`. */
export type LeavingSettings = Omit<DeletionDeps, 'personalDataSources'> & {
  pages: Pages;
  /** Opens the messages that wait in the outbox. */
  outboxBox: SecretBox;
  /** The sources of modules in higher layers. */
  personalDataSources: readonly PersonalDataSource[];
};
