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
  /** Those of them that may go to somebody who is no member. */
  openTemplates: ReadonlySet<string>;
  /** An address that is no member's is answered like one that is. */
  uniformAnswers: boolean;
  /** Addresses are counted under it. */
  digest: KeyedDigest;
  now: () => number;
}

/** The calls of this room, in the specification's names (section 7). */
export function messageOperations(deps: MessageOperationsDeps): ApiOperation[] {
  return [sentEmail(deps), sentMessage(deps), ...readMessages(deps)];
}
