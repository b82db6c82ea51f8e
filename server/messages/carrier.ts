import type { LogoutNotice } from './message.ts';

/**
 * What takes a message out of the house. A carrier answers when the service has taken the message over; the row is
 * marked after that, so a crash in between repeats the delivery with the same idempotency key.
 */
export interface MailCarrier {
  readonly name: string;
  /** @throws {PermanentDeliveryError} when trying again would be useless; any other error is tried again */
  send(mail: OutgoingMail, options: CarrierOptions): Promise<void>;
}

export interface SmsCarrier {
  readonly name: string;
  /** @throws {PermanentDeliveryError} when trying again would be useless; any other error is tried again */
  send(sms: { to: string; text: string }, options: CarrierOptions): Promise<void>;
}

export interface CarrierOptions {
  /** The same for every attempt at one message, and for no other message. */
  idempotencyKey: string;
}

export interface MailAddress {
  address: string;
  name?: string;
}

interface Envelope {
  to: string;
  from: MailAddress;
  replyTo?: string;
}

export interface RenderedMail extends Envelope {
  subject: string;
  html: string;
  text: string;
}

/** Made into a mail by the mail service, from a template that the operator keeps there. */
export interface TemplatedMail extends Envelope {
  templateId: string;
  /** Merge variables. */
  values: Record<string, string>;
}

export type OutgoingMail = RenderedMail | TemplatedMail;

/** Tells client apps; the signing keys are another room's, so it is handed in. */
export interface LogoutCarrier {
  readonly name: string;
  /** @throws {PermanentDeliveryError} when trying again would be useless; any other error is tried again */
  send(notice: LogoutNotice): Promise<void>;
}

export interface Carriers {
  mail?: MailCarrier | undefined;
  sms?: SmsCarrier | undefined;
  logout?: LogoutCarrier | undefined;
}

/** Trying again is useless: no such address, say. The message goes to the dead letters at once. */
export class PermanentDeliveryError extends Error {
  override name = 'PermanentFailure';
}

const addresses = /[^\s<>@,;:"]+@[^\s<>@,;:"]+/g;
const keys = /\bSG\.[\w.-]+/g;
const codes = /\b\d{6}\b/g;

/** Why a delivery failed, for the operator: one line without addresses, codes or keys. */
export function toFailureReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .replace(keys, '…')
    .replace(addresses, (address) => `…${address.slice(address.lastIndexOf('@'))}`)
    .replace(codes, '…')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, 200);
}
