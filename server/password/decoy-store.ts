import type { Transaction } from 'kysely';
import type { Mail, Outbox } from '../messages/index.ts';
import type { Schema } from '../store/index.ts';

/** Does what writing a mail does, so that nobody learns by the work that there is nobody to write to; and leaves nothing. */
export async function writeToNobody(trx: Transaction<Schema>, outbox: Outbox, mail: Mail): Promise<void> {
  const { id } = await outbox.add(trx, mail);
  await trx.deleteFrom('outbox').where('id', '=', id).execute();
}
