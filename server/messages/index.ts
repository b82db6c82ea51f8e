/**
 * The room of what leaves the house: mail, SMS and member notifications. One outbox, written in the same transaction as
 * the change that a message tells of; a worker hands it to a carrier.
 *
 * Owns the outbox, its worker and carriers, and how a template becomes a message. Does not own what templates say
 * (views/mail/) nor when something is said: that is each room's.
 */
export type { MailTemplate, MailValues, Message } from './message.ts';
export { createOutbox, type Outbox, type OutboxSettings } from './outbox.ts';
