import { type Kysely, sql } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Row, Schema, SecretBox } from '../store/index.ts';
import type { Notification } from './message.ts';
import { openMessage } from './outbox.ts';

export type NotificationRow = Row<'notifications'>;

/** Maximum number of a user's notifications, and how long they are kept. */
export const maxNotifications = 500;
const keptMs = 90 * 24 * 60 * 60_000;
const sweepBatch = 500;

/** The unread form, as it was submitted. */
function toNotificationRow(
  { userId, title, description, category, details = {}, security }: Notification,
  { id, createdAt }: { id: string; createdAt: number },
): NotificationRow {
  return {
    id,
    userId,
    title,
    description,
    category,
    details: JSON.stringify(details),
    status: 'unread',
    security: security ? 1 : 0,
    createdAt,
    updatedAt: createdAt,
  };
}

/** The carrier of notifications: their own table. The message's id makes a repeated delivery harmless. */
export async function insertNotification(
  db: Kysely<Schema>,
  notification: Notification,
  row: { id: string; createdAt: number },
): Promise<void> {
  await db
    .insertInto('notifications')
    .values(toNotificationRow(notification, row))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  await dropSurplus(db, notification.userId);
}

/** The oldest are deleted first; those of security changes last, so that a flood of others cannot hide one. */
async function dropSurplus(db: Kysely<Schema>, userId: UserId): Promise<void> {
  await db
    .deleteFrom('notifications')
    .where('userId', '=', userId)
    .where('id', 'not in', (from) =>
      from
        .selectFrom('notifications')
        .select('id')
        .where('userId', '=', userId)
        .orderBy('security', 'desc')
        .orderBy('createdAt', 'desc')
        .orderBy('id', 'desc')
        .limit(maxNotifications),
    )
    .execute();
}

/** Deletes those older than 90 days, and those beyond the user's maximum. */
export async function sweepNotifications(db: Kysely<Schema>, nowMs: number): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await db
      .deleteFrom('notifications')
      .where('id', 'in', (from) =>
        from
          .selectFrom('notifications')
          .select('id')
          .where('createdAt', '<=', nowMs - keptMs)
          .limit(sweepBatch),
      )
      .executeTakeFirst();
    if (Number(numDeletedRows) < sweepBatch) break;
  }
  const crowded = await db
    .selectFrom('notifications')
    .select('userId')
    .groupBy('userId')
    .having(sql<number>`count(*)`, '>', maxNotifications)
    .limit(sweepBatch)
    .execute();
  for (const { userId } of crowded) await dropSurplus(db, userId);
}

/** The last notification of a page, with which the next page starts. */
export type NotificationCursor = Pick<NotificationRow, 'security' | 'id'>;

/** A page of a user's notifications: those of security changes first, in each kind the newest first. */
export function notificationPage(
  db: Kysely<Schema>,
  userId: UserId,
  {
    after,
    status,
    limit,
  }: { after?: NotificationCursor | undefined; status?: NotificationRow['status'] | undefined; limit: number },
): Promise<NotificationRow[]> {
  const { security = 0, id = '' } = after ?? {};
  return (
    db
      .selectFrom('notifications')
      .selectAll()
      .where('userId', '=', userId)
      .$if(status !== undefined, (query) => query.where('status', '=', status as NotificationRow['status']))
      .$if(after !== undefined, (query) =>
        query.where(({ or, and, eb }) =>
          or([eb('security', '<', security), and([eb('security', '=', security), eb('id', '<', id)])]),
        ),
      )
      .orderBy('security', 'desc')
      // Ids start with the time (UUID version 7).
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
  );
}

/** The number of unread notifications of a user. */
export async function countUnread(db: Kysely<Schema>, userId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom('notifications')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('userId', '=', userId)
    .where('status', '=', 'unread')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** @param id undefined: all of the user. @returns the number that had been unread */
export async function markRead(
  db: Kysely<Schema>,
  userId: UserId,
  { id, nowMs }: { id?: string | undefined; nowMs: number },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('notifications')
    .set({ status: 'read', updatedAt: nowMs })
    .where('userId', '=', userId)
    .where('status', '=', 'unread')
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** One of the user's own. */
export function findNotification(db: Kysely<Schema>, userId: UserId, id: string): Promise<NotificationRow | undefined> {
  return db
    .selectFrom('notifications')
    .selectAll()
    .where('userId', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** All of them, read in pages. */
export async function allNotifications(db: Kysely<Schema>, userId: UserId): Promise<NotificationRow[]> {
  const all: NotificationRow[] = [];
  for (;;) {
    const page = await notificationPage(db, userId, { after: all.at(-1), limit: 100 });
    all.push(...page);
    if (page.length < 100) return all;
  }
}

/** One notification, delivered or not yet. */
export async function readNotification(
  db: Kysely<Schema>,
  box: SecretBox,
  id: string,
): Promise<NotificationRow | undefined> {
  const delivered = await db.selectFrom('notifications').selectAll().where('id', '=', id).executeTakeFirst();
  if (delivered) return delivered;
  const waiting = await db
    .selectFrom('outbox')
    .select(['sealedPayload', 'createdAt'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (waiting?.sealedPayload == null) return undefined;
  const message = openMessage(box, id, waiting.sealedPayload);
  return message.channel === 'notification'
    ? toNotificationRow(message, { id, createdAt: waiting.createdAt })
    : undefined;
}
