import { propertyIn } from '../shared/index.ts';
import type { LogoutNotice } from './message.ts';

/**
 * Sends messages by an external service. A carrier resolves when the service has accepted the message; the row is
 * marked after that, so a crash in between repeats the delivery with the same idempotency key.
 */
export interface MailCarrier {
  readonly name: string;
  /** @throws {PermanentDeliveryError} if a retry would be useless; any other error is tried again */
  send(mail: OutgoingMail, options: CarrierOptions): Promise<void>;
}

export interface SmsCarrier {
  readonly name: string;
  /** @throws {PermanentDeliveryError} if a retry would be useless; any other error is tried again */
  send(sms: { to: string; text: string }, options: CarrierOptions): Promise<void>;
}

export interface CarrierOptions {
  /** Equal for every attempt of one message, and for no other message. */
  idempotencyKey: string;
  /** Gets the service's answer to an accepted message: for people, and not without secrets. */
  onAnswer?(text: string): void;
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

export interface RenderedMail {
  subject: string;
  /** A whole document. */
  html: string;
  text: string;
}

/** A mail that the mail service renders, from a template that the operator stores there. */
interface TemplatedMail extends Envelope {
  templateId: string;
  /** Merge variables. */
  values: Record<string, string>;
}

export type OutgoingMail = (Envelope & RenderedMail) | TemplatedMail;

/** Notifies client apps; oidc/ implements it, because the signing keys belong to a higher layer. */
export interface LogoutCarrier {
  readonly name: string;
  /** @throws {PermanentDeliveryError} if a retry would be useless; any other error is tried again */
  send(notice: LogoutNotice): Promise<void>;
}

export interface Carriers {
  mail?: MailCarrier | undefined;
  sms?: SmsCarrier | undefined;
  logout?: LogoutCarrier | undefined;
}

/** A retry is useless, for example for an unknown address. The message becomes a dead letter at once. */
export class PermanentDeliveryError extends Error {
  override name = 'PermanentFailure';
}

/** The cause of a network error: `fetch` itself only reports that it failed. */
export function toNetworkReason(error: unknown): string {
  const cause = propertyIn(error, 'cause');
  const reason = propertyIn(cause, 'code') ?? propertyIn(cause, 'message') ?? propertyIn(error, 'name');
  return String(reason ?? 'no answer');
}

const addresses = /[^\s<>@,;:"]+@[^\s<>@,;:"]+/g;
const keys = /\bSG\.[\w.-]+/g;
const codes = /\b\d{6}\b/g;

/** The reason of a failed delivery, for the operator: one line without addresses, codes or keys. */
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
