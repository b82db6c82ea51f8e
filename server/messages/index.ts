/**
 * The module of outgoing messages: mail, SMS, notifications, and logout tokens to client apps. One outbox, written in
 * the same transaction as the change that a message reports; a worker passes it to a carrier.
 * Owns the outbox, its worker and carriers, the rendering of templates, and the notice of a change to an account. Does
 * not own the templates (views/mail/) nor when a message is sent: each module decides that.
 */
export { isMailAddress } from './addresses.ts';
export {
  type CarrierOptions,
  type Carriers,
  type LogoutCarrier,
  type MailAddress,
  type MailCarrier,
  type OutgoingMail,
  PermanentDeliveryError,
  type SmsCarrier,
} from './carrier.ts';
export { type CarrierState, checkSendGrid, checkSmtp, checkTwilio } from './carrier-checks.ts';
export type { TwilioSettings } from './carrier-twilio.ts';
export { createMailCarrier, createSmsCarrier, type MailCarrierSettings } from './create-carrier.ts';
export { createMessages, type MessagesOptions } from './create-messages.ts';
export { deviceName } from './device-name.ts';
export type { MembershipMailValues, Receipt } from './membership-mails.ts';
export {
  decoyAddress,
  type LogoutNotice,
  type Mail,
  type MailTemplate,
  type MailValues,
  type MappedMail,
  type Message,
  type SecurityChange,
  type SecurityNotice,
} from './message.ts';
export {
  countUnread,
  findNotification,
  markRead,
  type NotificationRow,
  notificationPage,
} from './notification-store.ts';
export {
  type CodeCheck,
  type Codes,
  codeMinutes,
  createCodes,
  type IssuedCode,
  resendWaitMs,
} from './one-time-codes.ts';
export { messageOperations } from './operations.ts';
export { type Concealment, createOutbox, type Outbox, type OutboxSettings } from './outbox.ts';
export { type ListedMessage, listMessages, type OutboxState, outboxStates, retryFailed } from './outbox-store.ts';
export type { OutboxWorker } from './outbox-worker.ts';
export { eraseMessagesTo, listMessagesTo } from './personal-data-store.ts';
export { readCursor, toCursor } from './read-messages.ts';
export type { Recipient, RecipientDirectory } from './recipients.ts';
export { type MailContent, type MailLook, mailTemplates, renderMail } from './render-mail.tsx';
export { sampleMail } from './sample-mails.ts';
export { mailAbout, notifySecurityChange, type Origin, plainAddress, whence } from './security-notice.ts';
export {
  createSmsSender,
  type SendSmsResult,
  type SmsLimits,
  type SmsMessage,
  type SmsRefusal,
  type SmsSender,
} from './sms.ts';
export { type CodeText, codeText } from './sms-code-text.ts';
export { classifyNumber, formatNumber, type SmsNumber } from './sms-number.ts';
export { normaliseCode } from './whole-code.ts';
