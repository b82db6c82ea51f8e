import { z } from 'zod';
import { type ApiOperation, defineOperation, HttpError, resolveRequestedUser } from '../http/index.ts';
import type { MessageOperationsDeps } from './deps.ts';
import { onTheWire, storedMessage } from './message-operation.ts';
import {
  findNotification,
  markRead,
  type NotificationCursor,
  type NotificationRow,
  notificationPage,
} from './notification-store.ts';

const maxOfAPage = 100;

const listedMessage = storedMessage.extend({
  security: z.boolean().describe('It tells of a change to how the member signs in; only Foyer writes such'),
});
const listed = (row: NotificationRow) => ({ ...onTheWire(row), security: row.security === 1 });

/** `1~<id>`: the end of the previous page. */
export const toCursor = ({ security, id }: NotificationCursor): string => `${security}~${id}`;

/** @returns undefined if it is invalid */
export function readCursor(text: string): NotificationCursor | undefined {
  const [, security, id] = /^([01])~([\w-]{1,100})$/.exec(text) ?? [];
  return security === undefined || id === undefined ? undefined : { security: Number(security), id };
}

type Deps = Pick<MessageOperationsDeps, 'database' | 'recipients' | 'now'>;

/** Reads notifications inside the marketplace and marks them as read. */
export function readMessages(deps: Deps): ApiOperation[] {
  return [listMessages(deps), readOne(deps), readAll(deps)];
}

const listMessages = ({ database, recipients }: Deps) =>
  defineOperation({
    method: 'get',
    path: '/messages',
    id: 'listMessages',
    summary: "A member's notifications: those of security changes first, then the newest; a service names the member",
    query: z.object({
      userId: z.string().min(1).max(100).optional().describe('The member; for services'),
      status: z.enum(['unread', 'read']).optional(),
      limit: z.coerce.number().int().min(1).max(maxOfAPage).optional().describe('50 when it is left out'),
      cursor: z
        .string()
        .refine((text) => readCursor(text) !== undefined, 'a nextCursor of an earlier page')
        .optional(),
    }),
    answer: z.object({
      items: z.array(listedMessage),
      nextCursor: z.string().nullable().describe('null: there is no further page'),
    }),
    problems: { 404: 'No such member' },
    async handle({ req, query: { userId: named, status, limit = 50, cursor } }) {
      const userId = resolveRequestedUser(req, named, 'query.userId');
      if (!(await recipients.byId(userId))) throw new HttpError('unknownMember', { detail: 'no such user' });
      const after = cursor === undefined ? undefined : readCursor(cursor);
      // One more than is shown, to know whether there is another page.
      const rows = await notificationPage(database.db, userId, { status, after, limit: limit + 1 });
      const visible = rows.slice(0, limit);
      const last = visible.at(-1);
      return {
        items: visible.map(listed),
        nextCursor: rows.length > limit && last ? toCursor(last) : null,
      };
    },
  });

const readOne = ({ database, now }: Deps) =>
  defineOperation({
    method: 'post',
    path: '/messages/{id}/read',
    id: 'readMessage',
    summary: 'Marks a notification as read',
    params: z.object({ id: z.string().max(100) }),
    answer: listedMessage,
    problems: { 404: 'The member has no such notification' },
    async handle({ req, params: { id } }) {
      const userId = resolveRequestedUser(req, undefined, 'path');
      await markRead(database.db, userId, { id, nowMs: now() });
      const row = await findNotification(database.db, userId, id);
      if (!row) throw new HttpError('unknownNotification', { detail: 'no such notification' });
      return listed(row);
    },
  });

const readAll = ({ database, now }: Deps) =>
  defineOperation({
    method: 'post',
    path: '/messages/readAll',
    id: 'readAllMessages',
    summary: 'Marks all notifications of the member as read',
    answer: z.object({ read: z.number().int().describe('How many had not been read') }),
    async handle({ req }) {
      const userId = resolveRequestedUser(req, undefined, 'path');
      return { read: await markRead(database.db, userId, { nowMs: now() }) };
    },
  });
