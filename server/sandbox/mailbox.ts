import type { CarrierOptions, Carriers, MailCarrier, OutgoingMail, SmsCarrier } from '../messages/index.ts';
import { type KeyValueStore, sha256 } from '../store/index.ts';

/** A message that would have left the house. */
export interface KeptMessage {
  id: string;
  channel: 'mail' | 'sms';
  to: string;
  /** `Name <address>`; text messages have none. */
  from?: string;
  replyTo?: string;
  subject?: string;
  /** Mails that the mail service makes from a template of its own have none. */
  html?: string;
  text: string;
  /** The one-time code in it. */
  code?: string;
  /** Milliseconds since the epoch. */
  atMs: number;
}

export interface SandboxMailbox {
  /** For the outbox's worker: keep every message and send none. */
  carriers: Carriers & { mail: MailCarrier; sms: SmsCarrier };
  /** Newest first; of one recipient, or all. */
  list(filter?: { to?: string | undefined }): Promise<KeptMessage[]>;
  find(id: string): Promise<KeptMessage | undefined>;
}

const keptMs = 24 * 60 * 60_000;
const most = 200;
const indexKey = 'sandbox-mailbox';
const keyOf = (id: string) => `sandbox-message:${id}`;

/** Our mails have it on a line of its own, text messages within a sentence. */
const codeIn = (text: string, channel: KeptMessage['channel']) =>
  (channel === 'mail' ? /^(\d{6})$/m : /\b(\d{6})\b/).exec(text)?.[1];

function contentOf(mail: OutgoingMail): Pick<KeptMessage, 'subject' | 'html' | 'text'> {
  if ('html' in mail) return { subject: mail.subject, html: mail.html, text: mail.text };
  const lines = Object.entries(mail.values).map(([name, value]) => `${name}: ${value}`);
  return { subject: mail.templateId, text: lines.join('\n') };
}

/** What the sandbox has instead of a mail service and a telephone: the last 200 messages, each for 24 hours. */
export function createSandboxMailbox({ kv, now }: { kv: KeyValueStore; now: () => number }): SandboxMailbox {
  async function keep(message: Omit<KeptMessage, 'id' | 'atMs' | 'code'>, { idempotencyKey }: CarrierOptions) {
    // The same message again has the same id: it is kept once, as by a carrier that honours the key.
    const id = sha256(idempotencyKey);
    const code = codeIn(message.text, message.channel);
    const kept: KeptMessage = { ...message, id, atMs: now(), ...(code !== undefined && { code }) };
    await kv.setIfAbsent(keyOf(id), JSON.stringify(kept), keptMs);
    await kv.addToSet(indexKey, id, keptMs);
    await tidy();
  }

  async function read(): Promise<KeptMessage[]> {
    const ids = await kv.setMembers(indexKey);
    const records = await Promise.all(ids.map((id) => kv.get(keyOf(id))));
    const messages = records.flatMap((record): KeptMessage[] => (record === null ? [] : [JSON.parse(record)]));
    return messages.sort((a, b) => b.atMs - a.atMs);
  }

  async function tidy(): Promise<void> {
    const ids = await kv.setMembers(indexKey);
    if (ids.length <= most) return;
    const staying = new Set((await read()).slice(0, most).map(({ id }) => id));
    const leaving = ids.filter((id) => !staying.has(id));
    await kv.delete(...leaving.map(keyOf));
    await Promise.all(leaving.map((id) => kv.removeFromSet(indexKey, id)));
  }

  return {
    carriers: {
      mail: {
        name: 'sandbox',
        async send(mail, options) {
          const { to, from, replyTo } = mail;
          const sender = from.name === undefined ? from.address : `${from.name} <${from.address}>`;
          const envelope = { channel: 'mail' as const, to, from: sender, ...(replyTo !== undefined && { replyTo }) };
          await keep({ ...envelope, ...contentOf(mail) }, options);
        },
      },
      sms: {
        name: 'sandbox',
        send: ({ to, text }, options) => keep({ channel: 'sms', to, text }, options),
      },
    },
    async list({ to } = {}) {
      const messages = await read();
      return to === undefined ? messages : messages.filter((message) => message.to.toLowerCase() === to.toLowerCase());
    },
    async find(id) {
      const record = await kv.get(keyOf(id));
      return record === null ? undefined : JSON.parse(record);
    },
  };
}
