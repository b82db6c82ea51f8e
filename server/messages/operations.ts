import type { ApiOperation } from '../http/index.ts';
import type { MessageOperationsDeps } from './deps.ts';
import { sentEmail } from './email-operation.ts';
import { sentMessage } from './message-operation.ts';
import { readMessages } from './read-messages.ts';

/** The calls of this module, in the specification's names (section 7). */
export function messageOperations(deps: MessageOperationsDeps): ApiOperation[] {
  return [sentEmail(deps), sentMessage(deps), ...readMessages(deps)];
}
