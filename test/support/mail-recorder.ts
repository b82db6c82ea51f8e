import type { Carriers, Message, OutgoingMail } from '../../server/messages/index.ts';
import type { Database, SecretBox } from '../../server/store/index.ts';
import { toSealedText } from './ids.ts';

type OutgoingSms = Message & { channel: 'sms' };

/** A mail as its carrier got it, with its source. */
export interface RecordedMail {
  to: string;
  /** '' if the mail service renders the mail from its own template. */
  subject: string;
  html: string;
  text: string;
  /** As in `outbox.add`. */
  template: string;
  /** Its original values: `values.code`. */
  values: Record<string, string | number | boolean>;
  /** The carrier's input. */
  mail: OutgoingMail;
  idempotencyKey: string;
}

/** Passes each message to the one, then to the other. */
export function bothCarriers(one: Carriers, other: Carriers): Carriers {
  return {
    mail: {
      name: 'both',
      async send(mail, options) {
        await one.mail?.send(mail, options);
        await other.mail?.send(mail, options);
      },
    },
    sms: {
      name: 'both',
      async send(sms, options) {
        await one.sms?.send(sms, options);
        await other.sms?.send(sms, options);
      },
    },
  };
}

/** Carriers that store their input. */
export function createMailRecorder({ db }: Database, box: SecretBox) {
  const mails: RecordedMail[] = [];
  const sms: OutgoingSms[] = [];
  /** During its delivery its row still has the source. */
  async function source(id: string): Promise<Message> {
    const row = await db.selectFrom('outbox').select('sealedPayload').where('id', '=', id).executeTakeFirstOrThrow();
    return JSON.parse(box.open(toSealedText(row.sealedPayload ?? ''), `outbox:${id}`));
  }
  const carriers: Carriers = {
    mail: {
      name: 'recorder',
      async send(mail, { idempotencyKey }) {
        const message = await source(idempotencyKey);
        if (message.channel !== 'mail') throw new Error(`a ${message.channel} came to the carrier of mail`);
        const { subject, html, text } = 'templateId' in mail ? { subject: '', html: '', text: '' } : mail;
        const { to, template, values } = message;
        mails.push({ to, subject, html, text, template, values: { ...values }, mail, idempotencyKey });
      },
    },
    sms: {
      name: 'recorder',
      async send(_sms, { idempotencyKey }) {
        sms.push((await source(idempotencyKey)) as OutgoingSms);
      },
    },
  };
  /** In the order of their creation: by the ids of their rows, because many are delivered in parallel. */
  const mailsTo = (to: string) =>
    mails.filter((mail) => mail.to === to).toSorted((a, b) => (a.idempotencyKey < b.idempotencyKey ? -1 : 1));
  return { carriers, sms, mailsTo };
}
