import { z } from 'zod';
import { type ApiOperation, defineOperation, doc, HttpError, resolveRequestedUser } from '../http/index.ts';
import type { UserId } from '../shared/index.ts';
import type { MessageOperationsDeps } from './deps.ts';
import { onTheWire, storedMessage } from './message-operation.ts';
import {
  findNotification,
  markRead,
  type NotificationCursor,
  type NotificationRow,
  notificationPage,
} from './notification-store.ts';

export const maxOfAPage = 100;

export const listedMessage = storedMessage
  .extend({
    security: z.boolean().meta(doc('It reports a change to how the member signs in; only Foyer writes such')),
  })
  .meta({ id: 'ListedNotification', description: 'A notification with its kind.' });
const listed = (row: NotificationRow) => ({ ...onTheWire(row), security: row.security === 1 });

/** `1~<id>`: the end of the previous page. */
export const toCursor = ({ security, id }: NotificationCursor): string => `${security}~${id}`;

/** @returns undefined if it is invalid */
export function readCursor(text: string): NotificationCursor | undefined {
  const [, security, id] = /^([01])~([\w-]{1,100})$/.exec(text) ?? [];
  return security === undefined || id === undefined ? undefined : { security: Number(security), id };
}

export type ReadMessagesDeps = Pick<MessageOperationsDeps, 'database' | 'recipients' | 'now'>;
export type ListedNotification = ReturnType<typeof listed>;

interface PageRequest {
  status?: NotificationRow['status'] | undefined;
  limit?: number | undefined;
  after?: NotificationCursor | undefined;
}

/** The acts behind the JSON calls and the fields of GraphQL. */
export function createNotificationReader({ database, recipients, now }: ReadMessagesDeps) {
  return {
    /** @throws {HttpError} unknownMember */
    async listPage(userId: UserId, { status, limit = 50, after }: PageRequest) {
      if (!(await recipients.byId(userId))) throw new HttpError('unknownMember', { detail: 'no such user' });
      // One more than is shown, to know whether there is another page.
      const rows = await notificationPage(database.db, userId, { status, after, limit: limit + 1 });
      const visible = rows.slice(0, limit);
      const last = visible.at(-1);
      return { items: visible.map(listed), nextCursor: rows.length > limit && last ? toCursor(last) : null };
    },
    /** @throws {HttpError} unknownNotification */
    async markOne(userId: UserId, id: string): Promise<ListedNotification> {
      await markRead(database.db, userId, { id, nowMs: now() });
      const row = await findNotification(database.db, userId, id);
      if (!row) throw new HttpError('unknownNotification', { detail: 'no such notification' });
      return listed(row);
    },
    markAll: async (userId: UserId) => ({ read: await markRead(database.db, userId, { nowMs: now() }) }),
  };
}

type Reader = ReturnType<typeof createNotificationReader>;

/** Reads notifications inside the marketplace and marks them as read. */
export function readMessages(deps: ReadMessagesDeps): ApiOperation[] {
  const reader = createNotificationReader(deps);
  return [listMessages(reader), readOne(reader), readAll(reader)];
}

const listMessages = ({ listPage }: Reader) =>
  defineOperation({
    method: 'get',
    path: '/messages',
    id: 'listMessages',
    summary: 'List the notifications of a member',
    description: 'Those of security changes come first, then the newest first. A service names the member.',
    query: z.object({
      userId: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .meta(doc('Id of the member, for services', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f')),
      status: z.enum(['unread', 'read']).optional().meta(doc('Only those with this status', 'unread')),
      limit: z.coerce.number().int().min(1).max(maxOfAPage).optional().meta(doc('How many at most; 50 by default', 20)),
      cursor: z
        .string()
        .refine((text) => readCursor(text) !== undefined, 'a nextCursor of an earlier page')
        .optional()
        .meta({ ...doc('`nextCursor` of the page before', '0~0197c2a5-0c11-7f3e-8a55-5be1f0a9c3d2'), maxLength: 102 }),
    }),
    answer: z
      .object({
        items: z.array(listedMessage).meta(doc('The notifications of this page')),
        nextCursor: z
          .string()
          .nullable()
          .meta(doc('For the next page; null: there is none', '0~0197c2a5-0c11-7f3e-8a55-5be1f0a9c3d2')),
      })
      .meta({ id: 'NotificationPage', description: 'A page of notifications.' }),
    problems: { 404: 'No such member' },
    async handle({ req, query: { userId: named, status, limit, cursor } }) {
      const userId = resolveRequestedUser(req, named, 'query.userId');
      return listPage(userId, { status, limit, after: cursor === undefined ? undefined : readCursor(cursor) });
    },
  });

const readOne = ({ markOne }: Reader) =>
  defineOperation({
    method: 'post',
    path: '/messages/{id}/read',
    id: 'readMessage',
    summary: 'Mark a notification as read',
    description: 'A notification that is read already stays so.',
    params: z.object({
      id: z.string().max(100).meta(doc('Id of the notification', '0197c2a5-0c11-7f3e-8a55-5be1f0a9c3d2')),
    }),
    answer: listedMessage,
    problems: { 404: 'The member has no such notification' },
    handle: async ({ req, params: { id } }) => markOne(resolveRequestedUser(req, undefined, 'path'), id),
  });

const readAll = ({ markAll }: Reader) =>
  defineOperation({
    method: 'post',
    path: '/messages/readAll',
    id: 'readAllMessages',
    summary: 'Mark all notifications of the member as read',
    description: 'Later ones stay unread.',
    answer: z
      .object({ read: z.int().meta(doc('How many had not been read', 3)) })
      .meta({ id: 'NotificationsRead', description: 'All are read.' }),
    handle: async ({ req }) => markAll(resolveRequestedUser(req, undefined, 'path')),
  });
