import type { Request } from 'express';
import { z } from 'zod';
import {
  type ApiOperation,
  consumeLimits,
  defineOperation,
  doc,
  HttpError,
  type LimitDecision,
  linesField,
  rateLimits,
  requirePrincipal,
  resolveRequestedUser,
  textField,
  toRetrySeconds,
} from '../http/index.ts';
import { type UserId, userIdSchema } from '../shared/index.ts';
import { parseStored } from '../store/index.ts';
import type { MessageOperationsDeps } from './deps.ts';
import type { Notification } from './message.ts';
import { type NotificationRow, readNotification } from './notification-store.ts';

/** The format of Amazon's queues. */
const queueId = z.string().regex(/^[\x21-\x7e]{1,128}$/, '1 to 128 printable characters of ASCII');

/** Further data of the sender, in the specification's names. */
const details = z.object({
  email: textField(254).optional().meta(doc('An email address, for the sender’s own use', 'ada@example.com')),
  action: textField(100).optional().meta(doc('The sender’s name for the event', 'match')),
  plan: textField(100).optional().meta(doc('A plan, for the sender’s own use', '12')),
  pagename: textField(200).optional().meta(doc('The page to which the message belongs', 'search')),
  actiondescription: linesField(2_000).optional().meta(doc('More about the event', 'Three companies match.')),
  fullname: textField(200).optional().meta(doc('A name, for the sender’s own use', 'Ada Lovelace')),
  company: textField(200).optional().meta(doc('A company, for the sender’s own use', 'Engines Ltd')),
  jobTitle: textField(200).optional().meta(doc('A job title, for the sender’s own use', 'Analyst')),
});
const fields = {
  title: doc('The first line', 'New match'),
  description: doc('The message', 'A company that fits your search has joined.'),
  category: doc('The sender’s category', 'task'),
  deduplication: doc('The same id within five minutes is one message', 'match-2291'),
  group: doc('Messages of one group keep their order', 'matches'),
};
const message = details.extend({
  title: textField(200).min(1).meta(fields.title),
  description: linesField(4_000).meta(fields.description),
  category: textField(100).meta(fields.category),
  userId: textField(100)
    .min(1)
    .optional()
    .meta(doc('Id of the member; members may omit their own', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f')),
  MessageDeduplicationId: queueId.optional().meta(fields.deduplication),
  MessageGroupId: queueId.optional().meta(fields.group),
});
export const storedMessage = details.extend({
  id: z.string().meta(doc('Id of the notification', '0197c2a5-0c11-7f3e-8a55-5be1f0a9c3d2')),
  title: z.string().meta(fields.title),
  description: z.string().meta(fields.description),
  category: z.string().meta(fields.category),
  userId: userIdSchema.meta(doc('Id of the member', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f')),
  status: z.string().meta(doc('`unread` or `read`', 'unread')),
  createdAt: z.iso.datetime().meta(doc('Time of the message (RFC 3339)', '2026-11-24T09:30:00.000Z')),
  updatedAt: z.iso.datetime().meta(doc('Time of its last change (RFC 3339)', '2026-11-24T09:30:00.000Z')),
  MessageDeduplicationId: z.string().optional().meta(fields.deduplication),
  MessageGroupId: z.string().optional().meta(fields.group),
});
const notification = storedMessage.meta({ id: 'Notification', description: 'A notification inside the marketplace.' });

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
    summary: 'Send a notification to a member',
    description: 'The member reads it on the page of notifications and by `GET /messages`.',
    body: message,
    answer: notification,
    problems: { 404: 'No such member' },
    async handle({ req, body }) {
      const { title, description, category, userId: named, MessageDeduplicationId, MessageGroupId, ...rest } = body;
      const { userId, sender } = await resolveRecipient(req, named);
      // Over all senders: more in a day than are kept would only replace each other.
      const decision = await consumeLimits(kv, rateLimits.notification, { recipient: userId });
      requireAllowed(decision, 'too many notifications to one user');
      // Separate names for each sender, so that messages of different senders are neither merged nor ordered.
      const ownId = (id: string | undefined) => (id === undefined ? undefined : `${sender}:${userId}:${id}`);
      const submitted: Notification = {
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
        const { id } = await outbox.add(trx, submitted);
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
