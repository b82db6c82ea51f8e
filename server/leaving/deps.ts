import type { Transaction } from 'kysely';
import type { User } from '../account/index.ts';
import type { Logger, Pages } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Sessions } from '../session/index.ts';
import type { Database, KeyValueStore, Schema, SecretBox } from '../store/index.ts';

/**
 * What a room holds of a member: told to those who ask for their data, and gone when they leave. One list for both, so
 * that nothing can be in the one and not in the other.
 */
export interface Holding {
  /** Under which it stands in the exported file. */
  name: string;
  /** As JSON, in the names of the specification where it has some. Secrets as facts alone: that there is one, and since when. */
  tell(user: User): Promise<unknown>;
  erase(trx: Transaction<Schema>, user: User, nowMs: number): Promise<void>;
}

/** What the rules of this room stand on; they know nothing of requests. */
export interface LeavingDeps {
  publicUrl: string;
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  sessions: Pick<Sessions, 'endAll' | 'list'>;
  /** Of every room that holds something. */
  holdings: readonly Holding[];
  log: Logger;
  now: () => number;
}

/** As `app.ts` gives them. */
export type LeavingSettings = Omit<LeavingDeps, 'holdings'> & {
  pages: Pages;
  /** What waits in the outbox is sealed with it. */
  outboxBox: SecretBox;
  /** What rooms that stand above this one hold. */
  holdings: readonly Holding[];
};
