import type { Kysely, Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import { type Db, type Schema, type SecretBox, UnsealError } from '../store/index.ts';
import type { Message } from './message.ts';
import { allNotifications } from './notification-store.ts';
import { maskedRecipient, openMessage } from './outbox.ts';

/** How somebody is reached. */
export interface ContactDetails {
  id: UserId;
  email: string;
  phone: string | null;
}

interface QueuedMessage {
  id: string;
  channel: string;
  template: string;
  state: string;
  createdAt: number;
}

/** How each way looks in the column that is not sealed: others may look the same. */
function toMasks({ id, email, phone }: ContactDetails): string[] {
  const masked = (channel: 'mail' | 'sms', to: string) => maskedRecipient({ channel, to } as Message);
  return [id, masked('mail', email), ...(phone === null ? [] : [masked('sms', phone)])];
}

function isAddressedTo(message: Message, { id, email, phone }: ContactDetails): boolean {
  if (message.channel === 'notification') return message.userId === id;
  // To a client app, whatever it says of whom.
  if (message.channel === 'logout-token') return false;
  return message.channel === 'mail' ? message.to.toLowerCase() === email : message.to === phone;
}

/** What has not left the house yet, or could not, and is meant for somebody. */
async function listQueuedFor(db: Db, box: SecretBox, who: ContactDetails): Promise<QueuedMessage[]> {
  const rows = await db
    .selectFrom('outbox')
    .select(['id', 'channel', 'template', 'state', 'created_at', 'sealed_payload'])
    .where('recipient', 'in', toMasks(who))
    .where('sealed_payload', 'is not', null)
    .orderBy('id')
    .execute();
  return rows
    .filter(({ id, sealed_payload }) => {
      try {
        return isAddressedTo(openMessage(box, id, sealed_payload), who);
      } catch (error) {
        // Of a key that is gone: nobody can read it any more, nor deliver it.
        if (error instanceof UnsealError) return false;
        throw error;
      }
    })
    .map(({ id, channel, template, state, created_at }) => ({ id, channel, template, state, createdAt: created_at }));
}

/** Messages to somebody: what waits, and what they were told inside the marketplace. Times in milliseconds since the epoch. */
export async function listMessagesTo(
  db: Kysely<Schema>,
  box: SecretBox,
  who: ContactDetails,
): Promise<Record<string, unknown>> {
  const [waiting, notifications] = await Promise.all([listQueuedFor(db, box, who), allNotifications(db, who.id)]);
  return {
    outbox: waiting,
    notifications: notifications.map(({ user_id: _, details, security, created_at, updated_at, ...row }) => ({
      ...row,
      security: security === 1,
      details: JSON.parse(details),
      createdAt: created_at,
      updatedAt: updated_at,
    })),
  };
}

/** Nothing more reaches them, and nothing is left of what did. Listings keep a masked address for some days. */
export async function eraseMessagesTo(trx: Transaction<Schema>, box: SecretBox, who: ContactDetails): Promise<void> {
  const ids = (await listQueuedFor(trx, box, who)).map(({ id }) => id);
  for (let at = 0; at < ids.length; at += 500) {
    await trx
      .deleteFrom('outbox')
      .where('id', 'in', ids.slice(at, at + 500))
      .execute();
  }
  await trx.deleteFrom('outbox').where('recipient', '=', who.id).execute();
  await trx.deleteFrom('notifications').where('user_id', '=', who.id).execute();
}
