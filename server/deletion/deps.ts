import type { Transaction } from 'kysely';
import type { Logger, Pages } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Sessions } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../store/index.ts';
import type { User } from '../users/index.ts';

/**
 * What a room holds of a member: told to those who ask for their data, and gone when they leave. One list for both, so
 * that nothing can be in the one and not in the other.
 */
export interface PersonalDataSource {
  /** Under which it stands in the exported file. */
  name: string;
  /** As JSON, in the names of the specification where it has some. Secrets as facts alone: that there is one, and since when. */
  exportData(user: User): Promise<unknown>;
  erase(trx: Transaction<Schema>, user: User, nowMs: number): Promise<void>;
}

/** How a paid membership ends whose member leaves. */
export type CancellationTiming = 'period-end' | 'at-once';

/** A membership that goes on by itself, as the member is asked about it. */
export interface RenewingSubscription {
  /** Undefined: a plan that is not in the catalogue any more. */
  planName: string | undefined;
  /** Until when it is paid (milliseconds since the epoch). */
  until: number | null;
  /** Its renewal could not be charged: there is no period that could be waited for. */
  unpaid: boolean;
}

/** What a membership that goes on by itself becomes. */
export interface SubscriptionOnDeletion {
  /** undefined: there is none, or it ends by itself already. */
  findRenewing(userId: UserId, nowMs: number): Promise<RenewingSubscription | undefined>;
  /** @returns what `stays` is to know, should the member stay; null: there is none, or it ends by itself already */
  cancelOnDeletion(
    trx: Transaction<Schema>,
    userId: UserId,
    timing: CancellationTiming,
    nowMs: number,
  ): Promise<string | null>;
  /** @param noted by `leaves` */
  resumeAfterCancellation(trx: Transaction<Schema>, userId: UserId, noted: string, nowMs: number): Promise<void>;
}

/** What the rules of this room stand on; they know nothing of requests. */
export interface DeletionDeps {
  publicUrl: string;
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  sessions: Pick<Sessions, 'endAll' | 'list'>;
  /** Of every room that holds something. */
  personalDataSources: readonly PersonalDataSource[];
  /** Injected: membership/ stands beside this room. */
  membership: SubscriptionOnDeletion;
  log: Logger;
  now: () => number;
}

/** As `app.ts` gives them. */
export type LeavingSettings = Omit<DeletionDeps, 'personalDataSources'> & {
  pages: Pages;
  /** What waits in the outbox is sealed with it. */
  outboxBox: SecretBox;
  /** What rooms that stand above this one hold. */
  personalDataSources: readonly PersonalDataSource[];
};
