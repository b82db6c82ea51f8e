import { z } from 'zod';
import type { Language, texts } from '../../locales/index.ts';
import { type ClientId, clientIdSchema, type E164, e164Schema, type UserId, userIdSchema } from '../shared/index.ts';
import { checkedAs } from '../store/index.ts';
import type { MembershipMailValues } from './membership-mails.ts';

/** The values of each of the product's own mails. Times in milliseconds since the epoch. */
export interface MailValues extends MembershipMailValues {
  /** Confirms an address at sign-up. */
  'verify-email': { givenName: string; code: string; minutes: number };
  /** `provider`: the provider of a user without a password. */
  welcome: { givenName: string; provider?: string };
  /** The code for a forgotten password. */
  'password-reset': { givenName: string; code: string; minutes: number };
  /** The additional code of a sign-in while the limit for all visitors is used up. */
  'sign-in-code': { givenName: string; code: string; minutes: number };
  /** The specification's notice with the action 'password'. */
  'password-changed': { givenName: string; atMs: number };
  /** A sign-up with the address of a user; the page did not reveal that. */
  'account-exists': { givenName: string };
  /** A sign-in of an imported user without a password; the page did not reveal that. */
  'first-password': { givenName: string };
  /** `hasPassword`: false if the user only signs in with a provider or a passkey. */
  'new-device': { givenName: string; atMs: number; device: string; address: string; hasPassword?: boolean };
  'recovery-code-used': { givenName: string; atMs: number; left: number; device: string; address: string };
  /** The password was right, the second factor wrong too often. */
  'second-factor-guessed': { givenName: string; atMs: number; device: string; address: string };
  /** A sign-in identifier or credential was changed. */
  /** The code that proves a new address. */
  'change-email': { givenName: string; code: string; minutes: number };
  /** To the address that is about to be replaced. */
  'email-change-asked': { givenName: string; atMs: number; newEmail: string; device: string; address: string };
  /** To the replaced address, with the link to undo it. */
  'email-changed': {
    givenName: string;
    atMs: number;
    newEmail: string;
    undoUrl: string;
    undoUntilMs: number;
    device: string;
    address: string;
  };
  /** To the address that an account had temporarily. */
  'email-undone': { givenName: string; atMs: number };
  'security-notice': SecurityNotice;
  /** The user has requested deletion. */
  'deletion-asked': { givenName: string; atMs: number; dueAtMs: number; device: string; address: string };
  /** A sign-in has cancelled the deletion. */
  'deletion-cancelled': { givenName: string; atMs: number; device: string; address: string };
  /** An operator was asked to remove the second factor: with the link to cancel. */
  'factor-reset-asked': { givenName: string; atMs: number; dueAtMs: number; cancelUrl: string };
  'factor-reset-cancelled': { givenName: string; atMs: number };
  'factor-reset-done': { givenName: string; atMs: number };
}

/** The changes that a user is notified of: each has its text in `mail.securityNotice.changes`. */
export type SecurityChange = keyof (typeof texts)['en']['mail']['securityNotice']['changes'];

export interface SecurityNotice {
  givenName: string;
  atMs: number;
  change: SecurityChange;
  /** The changed item, for example the name of a passkey. */
  detail?: string;
  /** The origin of the change: the device's name and its IP address. */
  device: string;
  address: string;
}

export type MailTemplate = keyof MailValues;

/** The recipient of decoys. RFC 2606 reserves this domain. */
export const decoyAddress = 'nobody@example.invalid';

interface MessageOptions {
  /** Messages with the same id within five minutes are one (the specification's MessageDeduplicationId). */
  deduplicationId?: string;
  /** Messages of one group arrive in the order of their creation (MessageGroupId). */
  groupId?: string;
  /** Not delivered after this time (milliseconds since the epoch), for example when its code has expired. */
  expiresAtMs?: number;
}

export type Mail<Name extends MailTemplate = MailTemplate> = {
  [Template in Name]: MessageOptions & {
    channel: 'mail';
    to: string;
    template: Template;
    lang: Language;
    values: MailValues[Template];
  };
}[Name];

/** A template of the specification's list that the operator has mapped to one of the mail service's own. */
export interface MappedMail extends MessageOptions {
  channel: 'mail';
  to: string;
  template: `mapped:${string}`;
  /** Merge variables. */
  values: Record<string, string>;
}

export interface Sms extends MessageOptions {
  channel: 'sms';
  to: E164;
  text: string;
}

/** Shown to a user inside the marketplace. */
export interface Notification extends MessageOptions {
  channel: 'notification';
  userId: UserId;
  title: string;
  description: string;
  category: string;
  /** It reports a change of credentials: kept longest, and shown first. Callers of the API cannot set it. */
  security?: true;
  /** Further data of the sender, in the specification's names (pagename, company, …). */
  details?: Record<string, string>;
}

/** Notifies a client app that a session of a user has ended (OpenID Connect Back-Channel Logout 1.0). */
export interface LogoutNotice extends MessageOptions {
  channel: 'logout-token';
  clientId: ClientId;
  /** The session in the terms of the client app's id tokens. */
  sub: string;
  sid: string;
  /** The client app's registration at the end of the session: it may be deleted by the time of the delivery. */
  address: string;
  algorithm: 'ES256' | 'RS256';
}

export type Message = Mail | MappedMail | Sms | Notification | LogoutNotice;

/** A message as the outbox stored it: the properties that decide how it is delivered, and to whom. */
export const messageSchema: z.ZodType<Message> = checkedAs<Message>(
  z.discriminatedUnion('channel', [
    z.looseObject({ channel: z.literal('mail'), to: z.string(), template: z.string(), values: z.looseObject({}) }),
    z.looseObject({ channel: z.literal('sms'), to: e164Schema, text: z.string() }),
    z.looseObject({ channel: z.literal('notification'), userId: userIdSchema, title: z.string() }),
    z.looseObject({
      channel: z.literal('logout-token'),
      clientId: clientIdSchema,
      address: z.string(),
      sub: z.string(),
    }),
  ]),
);
