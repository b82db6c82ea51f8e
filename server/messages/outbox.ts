import type { Transaction } from 'kysely';
import { type Metrics, noMetrics } from '../metrics/index.ts';
import { type Schema, type SecretBox, uuidv7 } from '../store/index.ts';
import type { Message } from './message.ts';
import { waiting } from './outbox-store.ts';

export interface Outbox {
  /**
   * Writes a message in the caller's transaction: it is sent if, and only if, that transaction commits.
   * @returns its id, or that of the same message of the last five minutes
   */
  add(trx: Transaction<Schema>, message: Message): Promise<{ id: string; duplicate: boolean }>;
  /** Something has been committed: the worker of this process need not wait for its next turn. */
  wake(): void;
}

export interface OutboxSettings {
  box: SecretBox;
  now: () => number;
  metrics?: Metrics;
  /** Called by `wake`. */
  onWake?: () => void;
}

const sameWithinMs = 5 * 60_000;

/** Where a payload is sealed for (see SecretBox.seal). */
export const sealedPlace = (id: string) => `outbox:${id}`;

/** The template's name; other channels have none, so their own stands for it. */
function templateOf(message: Message): string {
  return message.channel === 'mail' ? message.template : message.channel;
}

/** Enough to recognise one's own address by, and no more: `a…@example.com`, `+49…67`. */
export function maskedRecipient(message: Message): string {
  if (message.channel === 'notification') return message.userId;
  if (message.channel === 'sms') return `${message.to.slice(0, 3)}…${message.to.slice(-2)}`;
  const at = message.to.lastIndexOf('@');
  return `${message.to.slice(0, 1)}…${message.to.slice(at)}`;
}

export function createOutbox({ box, now, metrics = noMetrics, onWake = () => {} }: OutboxSettings): Outbox {
  return {
    async add(trx, message) {
      const nowMs = now();
      const id = uuidv7(nowMs);
      const { deduplicationId, groupId } = message;
      const template = templateOf(message);
      if (deduplicationId !== undefined) {
        const known = await sameMessage(trx, deduplicationId, id, nowMs);
        if (known !== id) return { id: known, duplicate: true };
      }
      await trx
        .insertInto('outbox')
        .values({
          id,
          channel: message.channel,
          template,
          recipient: maskedRecipient(message),
          sealed_payload: box.seal(JSON.stringify(message), sealedPlace(id)),
          group_id: groupId ?? null,
          group_position: groupId === undefined ? 0 : await nextPosition(trx, groupId),
          state: 'waiting',
          attempts: 0,
          last_error: null,
          next_attempt_at: nowMs,
          created_at: nowMs,
          expires_at: message.expiresAtMs ?? null,
          finished_at: null,
        })
        .execute();
      metrics.messageAdded(message.channel, template);
      return { id, duplicate: false };
    },
    wake: onWake,
  };
}

/** Behind those of its group that wait. Two transactions at once have no order, and may take the same position. */
async function nextPosition(trx: Transaction<Schema>, groupId: string): Promise<number> {
  const { last } = await trx
    .selectFrom('outbox')
    .select(({ fn }) => fn.max('group_position').as('last'))
    .where('group_id', '=', groupId)
    .where('state', '=', waiting)
    .executeTakeFirstOrThrow();
  return (last ?? 0) + 1;
}

/** The id of the message with this deduplication id: `id` itself, unless another was written within five minutes. */
async function sameMessage(trx: Transaction<Schema>, deduplicationId: string, id: string, nowMs: number) {
  const row = { id: deduplicationId, message_id: id, expires_at: nowMs + sameWithinMs };
  // One statement decides, in both databases.
  await trx
    .insertInto('outbox_deduplication')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ message_id: id, expires_at: row.expires_at })
        .where('outbox_deduplication.expires_at', '<=', nowMs),
    )
    .execute();
  const { message_id } = await trx
    .selectFrom('outbox_deduplication')
    .select('message_id')
    .where('id', '=', deduplicationId)
    .executeTakeFirstOrThrow();
  return message_id;
}
