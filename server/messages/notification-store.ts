import type { Kysely } from 'kysely';
import type { NotificationTable, Schema, SecretBox } from '../store/index.ts';
import type { Message, Notification } from './message.ts';
import { sealedPlace } from './outbox.ts';

/** As it was asked for, before anybody has read it. */
export function notificationRow(
  { userId, title, description, category, details = {} }: Notification,
  { id, createdAt }: { id: string; createdAt: number },
): NotificationTable {
  return {
    id,
    user_id: userId,
    title,
    description,
    category,
    details: JSON.stringify(details),
    status: 'unread',
    created_at: createdAt,
    updated_at: createdAt,
  };
}

/** The carrier of notifications: their own table. The message's id makes a repeated delivery harmless. */
export async function keepNotification(
  db: Kysely<Schema>,
  notification: Notification,
  row: { id: string; createdAt: number },
): Promise<void> {
  await db
    .insertInto('notifications')
    .values(notificationRow(notification, row))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** One notification, delivered or still on its way. */
export async function notificationOf(
  db: Kysely<Schema>,
  box: SecretBox,
  id: string,
): Promise<NotificationTable | undefined> {
  const delivered = await db.selectFrom('notifications').selectAll().where('id', '=', id).executeTakeFirst();
  if (delivered) return delivered;
  const waiting = await db
    .selectFrom('outbox')
    .select(['sealed_payload', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (waiting?.sealed_payload == null) return undefined;
  const message: Message = JSON.parse(box.open(waiting.sealed_payload, sealedPlace(id)));
  return message.channel === 'notification'
    ? notificationRow(message, { id, createdAt: waiting.created_at })
    : undefined;
}
