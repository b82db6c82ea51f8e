import type { ApiOperation } from '../http/index.ts';
import type { KeyedDigest } from '../shared/index.ts';
import type { Database, KeyValueStore, SecretBox } from '../store/index.ts';
import { sentEmail } from './email-operation.ts';
import { sentMessage } from './message-operation.ts';
import type { Outbox } from './outbox.ts';
import { readMessages } from './read-messages.ts';
import type { RecipientDirectory } from './recipients.ts';

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

/** The calls of this module, in the specification's names (section 7). */
export function messageOperations(deps: MessageOperationsDeps): ApiOperation[] {
  return [sentEmail(deps), sentMessage(deps), ...readMessages(deps)];
}
