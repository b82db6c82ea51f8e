import { randomInt } from 'node:crypto';
import type { Transaction } from 'kysely';
import { type AuditHooks, recordEntry } from '../audit/index.ts';
import { type Metrics, noMetrics, type SealedText, toSealedText } from '../shared/index.ts';
import { parseStored, type Schema, type SecretBox, uuidv7 } from '../store/index.ts';
import { type Message, messageSchema } from './message.ts';
import { findDuplicate, insertMessage } from './outbox-store.ts';

/** For messages whose existence must not be revealed by the work that they cause. */
export interface Concealment {
  /** Written, opened and rendered like any other message, and discarded: no carrier and no metric sees it. */
  decoy?: boolean;
  /**
   * Delivered at a random time between 0.2 and 2 seconds from now, so that its work does not directly follow the
   * answer.
   */
  delayed?: boolean;
}

export interface Outbox {
  /**
   * Writes a message in the caller's transaction: it is sent if, and only if, that transaction commits.
   * @returns its id, or that of the same message of the last five minutes
   */
  add(
    trx: Transaction<Schema>,
    message: Message,
    concealment?: Concealment,
  ): Promise<{ id: string; duplicate: boolean }>;
  /** Adds an event to the audit trail, in the caller's transaction. */
  record: AuditHooks['onAct'];
  /** A transaction with a message was committed: the worker of this process need not wait for its next turn. */
  wake(): void;
}

export interface OutboxSettings {
  box: SecretBox;
  now: () => number;
  metrics?: Metrics;
  /** Undefined: it writes to the audit trail itself. */
  record?: AuditHooks['onAct'] | undefined;
  /** Called by `wake`, and when a delayed message is due. */
  onWake?: () => void;
}

const sameWithinMs = 5 * 60_000;
const shortestDelayMs = 200;
const longestDelayMs = 2_000;

/** Associated data of a payload's seal (see SecretBox.seal). */
export const messageAad = (id: string) => `outbox:${id}`;

/**
 * The message in a row of the outbox.
 * @throws {UnsealError} the payload is gone, or the key is
 * @throws {StoredDataInvalid} it is no message
 */
export const openMessage = (box: SecretBox, id: string, sealed: SealedText | null): Message =>
  parseStored(messageSchema, box.open(sealed ?? toSealedText(''), messageAad(id)));

/** The template's name; for other channels the channel. */
function messageTemplate(message: Message): string {
  return message.channel === 'mail' ? message.template : message.channel;
}

/** Enough for users to recognize their own address: `a…@example.com`, `+49…67`. A client app is no secret. */
export function maskedRecipient(message: Message): string {
  if (message.channel === 'notification') return message.userId;
  if (message.channel === 'logout-token') return message.clientId;
  if (message.channel === 'sms') return `${message.to.slice(0, 3)}…${message.to.slice(-2)}`;
  const at = message.to.lastIndexOf('@');
  return `${message.to.slice(0, 1)}…${message.to.slice(at)}`;
}

export function createOutbox(settings: OutboxSettings): Outbox {
  const { box, now, metrics = noMetrics, record = recordEntry, onWake = () => {} } = settings;
  return {
    record,
    async add(trx, message, { decoy = false, delayed = false } = {}) {
      const nowMs = now();
      const id = uuidv7(nowMs);
      const { deduplicationId, groupId } = message;
      const template = messageTemplate(message);
      if (deduplicationId !== undefined) {
        const known = await findDuplicate(trx, { id, deduplicationId, forMs: sameWithinMs }, nowMs);
        if (known !== id) return { id: known, duplicate: true };
      }
      const delayMs = delayed ? randomInt(shortestDelayMs, longestDelayMs + 1) : 0;
      await insertMessage(
        trx,
        {
          id,
          channel: message.channel,
          template,
          recipient: maskedRecipient(message),
          sealedPayload: box.seal(JSON.stringify(message), messageAad(id)),
          groupId: groupId ?? null,
          expiresAt: message.expiresAtMs ?? null,
          nextAttemptAt: nowMs + delayMs,
          decoy: Number(decoy),
        },
        nowMs,
      );
      if (!decoy) metrics.messageAdded(message.channel, template);
      if (delayed) setTimeout(onWake, delayMs).unref();
      return { id, duplicate: false };
    },
    wake: onWake,
  };
}
