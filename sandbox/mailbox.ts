import type { CarrierOptions, Carriers, MailCarrier, OutgoingMail, SmsCarrier } from '../server/messages/index.ts';
import { sha256 } from '../server/shared/index.ts';
import type { KeyValueStore } from '../server/store/index.ts';

/** A message that would have been sent. */
export interface StoredMessage {
  id: string;
  channel: 'mail' | 'sms';
  to: string;
  /** `Name <address>`; text messages have none. */
  from?: string;
  replyTo?: string;
  subject?: string;
  /** None for mails that the mail service renders from its own template. */
  html?: string;
  text: string;
  /** The one-time code in it. */
  code?: string;
  /** Milliseconds since the epoch. */
  atMs: number;
}

export interface SandboxMailbox {
  /** For the outbox's worker: stores every message and sends none. */
  carriers: Carriers & { mail: MailCarrier; sms: SmsCarrier };
  /** Newest first; of one recipient, or all. */
  list(filter?: { to?: string | undefined }): Promise<StoredMessage[]>;
  find(id: string): Promise<StoredMessage | undefined>;
  /** Deletes all messages. */
  clear(): Promise<void>;
}

const ttlMs = 24 * 60 * 60_000;
const maxMessages = 200;
const indexKey = 'sandbox-mail';
const toKey = (id: string) => `sandbox-message:${id}`;
/** The index contains the time of a message, so that the order is known without reading the messages. */
const toMember = ({ id, atMs }: Pick<StoredMessage, 'id' | 'atMs'>) => `${String(atMs).padStart(15, '0')}-${id}`;
const readId = (member: string) => member.slice(16);

/** The one-time code: on a separate line of a mail, within a sentence of a text message. */
const readCode = (text: string, channel: StoredMessage['channel']) =>
  (channel === 'mail' ? /^(\d{6})$/m : /\b(\d{6})\b/).exec(text)?.[1];

function toContent(mail: OutgoingMail): Pick<StoredMessage, 'subject' | 'html' | 'text'> {
  if ('html' in mail) return { subject: mail.subject, html: mail.html, text: mail.text };
  const lines = Object.entries(mail.values).map(([name, value]) => `${name}: ${value}`);
  return { subject: mail.templateId, text: lines.join('\n') };
}

/** Stands for the mail service and the phone: stores the last 200 messages, each for 24 hours. */
export function createSandboxMailbox({ kv, now }: { kv: KeyValueStore; now: () => number }): SandboxMailbox {
  async function store(message: Omit<StoredMessage, 'id' | 'atMs' | 'code'>, { idempotencyKey }: CarrierOptions) {
    // A repeated message has the same id and is stored once, like by a carrier that supports the key.
    const id = sha256(idempotencyKey);
    const code = readCode(message.text, message.channel);
    const record: StoredMessage = { ...message, id, atMs: now(), ...(code !== undefined && { code }) };
    const isNew = await kv.setIfAbsent(toKey(id), JSON.stringify(record), ttlMs);
    const { atMs } = isNew ? record : ((await find(id)) ?? record);
    await kv.addToSet(indexKey, toMember({ id, atMs }), ttlMs);
    await deleteBeyond(maxMessages);
  }

  async function find(id: string): Promise<StoredMessage | undefined> {
    const record = await kv.get(toKey(id));
    return record === null ? undefined : JSON.parse(record);
  }

  /** Members of the index, newest first. */
  const members = async () => (await kv.setMembers(indexKey)).toSorted().toReversed();

  async function read(): Promise<StoredMessage[]> {
    const messages = await Promise.all((await members()).map((member) => find(readId(member))));
    return messages.filter((message) => message !== undefined);
  }

  async function deleteBeyond(count: number): Promise<void> {
    const dropped = (await members()).slice(count);
    if (dropped.length === 0) return;
    await kv.delete(...dropped.map((member) => toKey(readId(member))));
    await Promise.all(dropped.map((member) => kv.removeFromSet(indexKey, member)));
  }

  return {
    carriers: {
      mail: {
        name: 'sandbox',
        async send(mail, options) {
          const { to, from, replyTo } = mail;
          const sender = from.name === undefined ? from.address : `${from.name} <${from.address}>`;
          const envelope = { channel: 'mail' as const, to, from: sender, ...(replyTo !== undefined && { replyTo }) };
          await store({ ...envelope, ...toContent(mail) }, options);
        },
      },
      sms: {
        name: 'sandbox',
        send: ({ to, text }, options) => store({ channel: 'sms', to, text }, options),
      },
    },
    async list({ to } = {}) {
      const messages = await read();
      return to === undefined ? messages : messages.filter((message) => message.to.toLowerCase() === to.toLowerCase());
    },
    find,
    clear: () => deleteBeyond(0),
  };
}
