import type { Request } from 'express';
import { z } from 'zod';
import {
  type ApiOperation,
  consumeLimits,
  defineOperation,
  HttpError,
  isMalformed,
  type LimitDecision,
  rateLimits,
  requirePrincipal,
  resolveRequestedUser,
  toRetrySeconds,
} from '../http/index.ts';
import { type UserId, userIdSchema } from '../shared/index.ts';
import { parseStored } from '../store/index.ts';
import type { MessageOperationsDeps } from './deps.ts';
import type { Notification } from './message.ts';
import { type NotificationRow, readNotification } from './notification-store.ts';

/** One line. */
export const text = (max: number) =>
  z.string().refine((value) => !isMalformed(value, max), `at most ${max} characters`);
/** Several lines, for values that never reach a header. */
export const lines = (max: number) =>
  z.string().refine((value) => !isMalformed(value.replace(/\r?\n|\t/g, ' '), max), `at most ${max} characters`);
/** The format of Amazon's queues. */
const queueId = z.string().regex(/^[\x21-\x7e]{1,128}$/, '1 to 128 printable characters of ASCII');

/** Further data of the sender, in the specification's names. */
const details = z.object({
  email: text(254).optional(),
  action: text(100).optional(),
  plan: text(100).optional(),
  pagename: text(200).optional(),
  actiondescription: lines(2_000).optional(),
  fullname: text(200).optional(),
  company: text(200).optional(),
  jobTitle: text(200).optional(),
});
const message = details.extend({
  title: text(200).min(1),
  description: lines(4_000),
  category: text(100),
  userId: text(100).min(1).optional().describe('A member may leave it out: it is themselves'),
  MessageDeduplicationId: queueId.optional().describe('The same one within five minutes is one message'),
  MessageGroupId: queueId.optional().describe('Messages of one group keep their order'),
});
export const storedMessage = details.extend({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  category: z.string(),
  userId: userIdSchema,
  status: z.string().describe('unread or read'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  MessageDeduplicationId: z.string().optional(),
  MessageGroupId: z.string().optional(),
});

/** @throws {HttpError} tooMany */
export function requireAllowed(decision: LimitDecision, detail: string): void {
  if (decision.allowed) return;
  throw new HttpError('tooMany', { detail, retryAfterSeconds: toRetrySeconds(decision.retryAfterMs) });
}

/** `POST /message/sent`: a notification inside the marketplace, by a client app or by a user to themselves. */
export function sentMessage({ database, kv, outbox, box, recipients }: MessageOperationsDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/message/sent',
    id: 'messageSent',
    summary: 'Notifies a member inside the marketplace',
    body: message,
    answer: storedMessage,
    problems: { 404: 'No such member' },
    async handle({ req, body }) {
      const { title, description, category, userId: named, MessageDeduplicationId, MessageGroupId, ...rest } = body;
      const { userId, sender } = await resolveRecipient(req, named);
      // Over all senders: more in a day than are kept would only replace each other.
      const decision = await consumeLimits(kv, rateLimits.notification, { recipient: userId });
      requireAllowed(decision, 'too many notifications to one user');
      // Separate names for each sender, so that messages of different senders are neither merged nor ordered.
      const ownId = (id: string | undefined) => (id === undefined ? undefined : `${sender}:${userId}:${id}`);
      const notification: Notification = {
        channel: 'notification',
        userId,
        title,
        description,
        category,
        details: rest,
        deduplicationId: ownId(MessageDeduplicationId),
        groupId: ownId(MessageGroupId),
      };
      const row = await database.transaction(async (trx) => {
        const { id } = await outbox.add(trx, notification);
        // The first message of the five minutes, if this is a duplicate.
        return readNotification(trx, box, id);
      });
      outbox.wake();
      if (!row) throw new HttpError('internal', { detail: 'the message was not stored' });
      return onTheWire(row, { MessageDeduplicationId, MessageGroupId });
    },
  });

  async function resolveRecipient(
    req: Request,
    named: string | undefined,
  ): Promise<{ userId: UserId; sender: string }> {
    const userId = resolveRequestedUser(req, named, 'body.userId');
    const principal = requirePrincipal(req);
    if (principal.kind === 'member') return { userId, sender: 'member' };
    if (!(await recipients.byId(userId))) throw new HttpError('unknownMember', { detail: 'no such user' });
    return { userId, sender: `client:${principal.clientId}` };
  }
}

export function onTheWire(
  row: NotificationRow,
  ids: { MessageDeduplicationId?: string | undefined; MessageGroupId?: string | undefined } = {},
): z.input<typeof storedMessage> {
  return {
    ...parseStored(details, row.details),
    id: row.id,
    title: row.title,
    description: row.description,
    category: row.category,
    userId: row.userId,
    status: row.status,
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
    ...ids,
  };
}
