import type { MessageChannel } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { isMailAddress, toHeaderText } from './addresses.ts';
import { type Carriers, type MailAddress, type OutgoingMail, PermanentDeliveryError } from './carrier.ts';
import type { Mail, MappedMail, Message } from './message.ts';
import { insertNotification } from './notification-store.ts';

export interface DeliverySettings {
  database: Database;
  carriers: Carriers;
  from: MailAddress;
  replyTo?: string | undefined;
  /** Renders a template of the product to a mail. */
  render(mail: Mail): { subject: string; html: string; text: string };
  /** The mail service's own id of a template that the operator has mapped, by its name. */
  templateId(name: string): string | undefined;
}

export const channels: readonly MessageChannel[] = ['mail', 'sms', 'notification', 'logout-token'];

/**
 * Passes a message to its carrier; a decoy is only rendered. @throws {PermanentDeliveryError} if a retry would be
 * useless
 */
export type DeliverMessage = (message: Message, row: { id: string; createdAt: number; decoy: number }) => Promise<void>;

export function createDelivery(settings: DeliverySettings): DeliverMessage {
  const { database, carriers } = settings;
  return async (message, { id, createdAt, decoy }) => {
    const options = { idempotencyKey: id };
    if (decoy === 1 && message.channel !== 'mail') return;
    if (message.channel === 'notification') return insertNotification(database.db, message, { id, createdAt });
    if (message.channel === 'sms') {
      if (!carriers.sms) throw new PermanentDeliveryError('no carrier for SMS is configured');
      return carriers.sms.send({ to: message.to, text: message.text }, options);
    }
    if (message.channel === 'logout-token') {
      if (!carriers.logout) throw new Error('this process cannot sign logout tokens');
      return carriers.logout.send(message);
    }
    if (!isMailAddress(message.to)) throw new PermanentDeliveryError('not a mail address');
    // An operator can repair that.
    if (!carriers.mail) throw new Error('no carrier for mail is configured: set SENDGRID_API_KEY or SMTP_URL');
    const mail = toOutgoingMail(message, settings);
    if (decoy === 1) return;
    return carriers.mail.send(mail, options);
  };
}

const mappedPrefix = 'mapped:';
const isMapped = (mail: Mail | MappedMail): mail is MappedMail => mail.template.startsWith(mappedPrefix);

function toOutgoingMail(mail: Mail | MappedMail, settings: DeliverySettings): OutgoingMail {
  const { from, replyTo, render, templateId } = settings;
  const envelope = { to: mail.to, from, ...(replyTo !== undefined && { replyTo }) };
  if (!isMapped(mail)) {
    const { subject, html, text } = render(mail);
    // Subjects contain names from strangers.
    return { ...envelope, subject: toHeaderText(subject), html, text };
  }
  const name = mail.template.slice(mappedPrefix.length);
  const id = templateId(name);
  if (id === undefined) throw new Error(`SENDGRID_TEMPLATES has no template ${name}`);
  return { ...envelope, templateId: id, values: mail.values };
}
