import type { KeyedDigest } from '../shared/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import type { Outbox } from './outbox.ts';
import type { RecipientDirectory } from './recipients.ts';

/** Dependencies of this module's calls. */
export interface MessageOperationsDeps {
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  /** The outbox's own. */
  box: SecretBox;
  recipients: RecipientDirectory;
  /** The operator's templates, by name. */
  templates: ReadonlyMap<string, string>;
  /** Those that may be sent to an address without a user. */
  openTemplates: ReadonlySet<string>;
  /** An address without a user gets the same answer as one with. */
  uniformAnswers: boolean;
  /** Key of the counters of addresses. */
  digest: KeyedDigest;
  now: () => number;
}
