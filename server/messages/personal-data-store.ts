import type { Kysely, Transaction } from 'kysely';
import { z } from 'zod';
import type { E164, NormalisedEmail, UserId } from '../shared/index.ts';
import { type Db, parseStored, type Row, type Schema, type SecretBox, UnsealError } from '../store/index.ts';
import type { Message } from './message.ts';
import { allNotifications } from './notification-store.ts';
import { maskedRecipient, openMessage } from './outbox.ts';

/** The addresses of a user. */
interface ContactDetails {
  id: UserId;
  email: NormalisedEmail;
  phone: E164 | null;
}

type QueuedMessage = Pick<Row<'outbox'>, 'id' | 'channel' | 'template' | 'state' | 'createdAt'>;

/** The masked form of each address: others may have the same. */
function toMasks({ id, email, phone }: ContactDetails): string[] {
  const masked = (channel: 'mail' | 'sms', to: string) => maskedRecipient({ channel, to } as Message);
  return [id, masked('mail', email), ...(phone === null ? [] : [masked('sms', phone)])];
}

function isAddressedTo(message: Message, { id, email, phone }: ContactDetails): boolean {
  if (message.channel === 'notification') return message.userId === id;
  // Its recipient is a client app.
  if (message.channel === 'logout-token') return false;
  return message.channel === 'mail' ? message.to.toLowerCase() === email : message.to === phone;
}

/** Undelivered messages for a user. */
async function listQueuedFor(db: Db, box: SecretBox, who: ContactDetails): Promise<QueuedMessage[]> {
  const rows = await db
    .selectFrom('outbox')
    .select(['id', 'channel', 'template', 'state', 'createdAt', 'sealedPayload'])
    .where('recipient', 'in', toMasks(who))
    .where('sealedPayload', 'is not', null)
    .orderBy('id')
    .execute();
  return rows
    .filter(({ id, sealedPayload }) => {
      try {
        return isAddressedTo(openMessage(box, id, sealedPayload), who);
      } catch (error) {
        // Sealed with a removed key: it can neither be read nor delivered.
        if (error instanceof UnsealError) return false;
        throw error;
      }
    })
    .map(({ id, channel, template, state, createdAt }) => ({ id, channel, template, state, createdAt }));
}

/**
 * Messages to a user: waiting ones, and notifications inside the marketplace. Times in milliseconds since the epoch.
 */
export async function listMessagesTo(
  db: Kysely<Schema>,
  box: SecretBox,
  who: ContactDetails,
): Promise<Record<string, unknown>> {
  const [waiting, notifications] = await Promise.all([listQueuedFor(db, box, who), allNotifications(db, who.id)]);
  return {
    outbox: waiting,
    notifications: notifications.map(({ userId: _, details, security, ...row }) => ({
      ...row,
      security: security === 1,
      details: parseStored(z.unknown(), details),
    })),
  };
}

/** Deletes all messages to a user. Listings keep a masked address for some days. */
export async function eraseMessagesTo(trx: Transaction<Schema>, box: SecretBox, who: ContactDetails): Promise<void> {
  const ids = (await listQueuedFor(trx, box, who)).map(({ id }) => id);
  for (let at = 0; at < ids.length; at += 500) {
    await trx
      .deleteFrom('outbox')
      .where('id', 'in', ids.slice(at, at + 500))
      .execute();
  }
  await trx.deleteFrom('outbox').where('recipient', '=', who.id).execute();
  await trx.deleteFrom('notifications').where('userId', '=', who.id).execute();
}
