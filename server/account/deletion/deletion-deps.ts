import type { SubscriptionOnDeletion } from '../../billing/index.ts';
import type { Logger } from '../../http/index.ts';
import type { Outbox } from '../../messages/index.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../../store/index.ts';
import type { PersonalDataSource } from '../../users/index.ts';

/** Dependencies of the deletion and export of accounts, and of operators' resets of second factors. */
export interface DeletionDeps {
  publicUrl: string;
  brandName: string;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  sessions: Pick<Sessions, 'endAll' | 'list'>;
  /** The sources of all modules with personal data. */
  personalDataSources: readonly PersonalDataSource[];
  /** The subscriptions of billing/. */
  membership: SubscriptionOnDeletion;
  log: Logger;
  now: () => number;
}

/** The dependencies from `wiring.ts`. */
export type DeletionSettings = Omit<DeletionDeps, 'personalDataSources'> & {
  /** Opens the messages that wait in the outbox. */
  outboxBox: SecretBox;
  /** The sources of modules in higher layers. */
  personalDataSources: readonly PersonalDataSource[];
};
