/**
 * The module of outgoing messages: mail, SMS, notifications, and logout tokens to client apps. One outbox, written in
 * the same transaction as the change that a message reports; a worker passes it to a carrier.
 * Owns the outbox, its worker and carriers, the rendering of templates, and the notice of a change to an account. Does
 * not own the templates (views/mail/) nor when a message is sent: each module decides that.
 */
export type { MailTemplate, MailValues, SecurityChange } from '../../views/mail/index.ts';
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
export { createMessages } from './create-messages.ts';
export { graphqlMessages } from './graphql-messages.ts';
export { decoyAddress, type LogoutNotice, type Mail, type Message } from './message.ts';
export { countUnread, findNotification, markRead, notificationPage } from './notification-store.ts';
export {
  type CodeCheck,
  type Codes,
  codeMinutes,
  createCodes,
  type IssuedCode,
  normaliseCode,
  resendWaitMs,
  secondsUntilResend,
} from './one-time-codes.ts';
export { messageOperations } from './operations.ts';
export { createOutbox, type Outbox } from './outbox.ts';
export {
  countWaiting,
  type ListedMessage,
  listMessages,
  type OutboxState,
  outboxStates,
  readBacklog,
  retryFailed,
} from './outbox-store.ts';
export type { OutboxWorker } from './outbox-worker.ts';
export { eraseMessagesTo, listMessagesTo } from './personal-data-store.ts';
export { readCursor, toCursor } from './read-messages.ts';
export type { Recipient, RecipientDirectory } from './recipients.ts';
export { type MailLook, mailTemplates, renderMail, sampleMail } from './render-mail.tsx';
export {
  byOperator,
  deviceName,
  mailAbout,
  mailByOperator,
  notifySecurityChange,
  type Origin,
  securityChanges,
  whence,
} from './security-notice.ts';
export { createSmsSender, type SmsRefusal, type SmsSender } from './sms.ts';
export { codeText } from './sms-code-text.ts';
export { classifyNumber, formatNumber, numberingPlans } from './sms-number.ts';
