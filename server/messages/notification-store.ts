import type { Kysely } from 'kysely';
import type { NotificationTable, Schema } from '../store/index.ts';
import type { Notification } from './message.ts';

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
