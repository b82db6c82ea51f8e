import { z } from 'zod';
import type { Language, texts } from '../../locales/index.ts';
import { type UserId, userIdSchema } from '../shared/index.ts';
import { checkedAs } from '../store/index.ts';
import type { MembershipMailValues } from './membership-mails.ts';

/** What each of the product's own mails is filled with. Times in milliseconds since the epoch. */
export interface MailValues extends MembershipMailValues {
  /** To confirm an address at sign-up. */
  'verify-email': { givenName: string; code: string; minutes: number };
  /** `provider`: by which the member signs in, who has no password. */
  welcome: { givenName: string; provider?: string };
  /** The code for a forgotten password. */
  'password-reset': { givenName: string; code: string; minutes: number };
  /** The code that a sign-in takes beside the password, while the limit of all visitors is full. */
  'sign-in-code': { givenName: string; code: string; minutes: number };
  /** The specification's notice with the action 'password'. */
  'password-changed': { givenName: string; atMs: number };
  /** Somebody signed up with an address that is a member's already, and was not told so. */
  'account-exists': { givenName: string };
  /** Somebody tried to sign in as a member who came from another service without a password, and was not told so. */
  'first-password': { givenName: string };
  /** `hasPassword`: false where the member signs in by a provider or a passkey alone. */
  'new-device': { givenName: string; atMs: number; device: string; address: string; hasPassword?: boolean };
  'recovery-code-used': { givenName: string; atMs: number; left: number; device: string; address: string };
  /** The password was right, the second factor wrong too often. */
  'second-factor-guessed': { givenName: string; atMs: number; device: string; address: string };
  /** Something was changed by which the member is known or signs in. */
  /** The code that proves a new address. */
  'change-email': { givenName: string; code: string; minutes: number };
  /** To the address that is about to be replaced. */
  'email-change-asked': { givenName: string; atMs: number; newEmail: string; device: string; address: string };
  /** To the address that was replaced, with the link that undoes it. */
  'email-changed': {
    givenName: string;
    atMs: number;
    newEmail: string;
    undoUrl: string;
    undoUntilMs: number;
    device: string;
    address: string;
  };
  /** To the address that an account had for a while. */
  'email-undone': { givenName: string; atMs: number };
  'security-notice': SecurityNotice;
  /** A member wants to leave. */
  'deletion-asked': { givenName: string; atMs: number; dueAtMs: number; device: string; address: string };
  /** And stays, having signed in. */
  'deletion-cancelled': { givenName: string; atMs: number; device: string; address: string };
  /** An operator was asked to take the second factor away: with the link that says no. */
  'factor-reset-asked': { givenName: string; atMs: number; dueAtMs: number; cancelUrl: string };
  'factor-reset-cancelled': { givenName: string; atMs: number };
  'factor-reset-done': { givenName: string; atMs: number };
}

/** What members are told of when it is changed: each change that has its text in `mail.securityNotice.changes`. */
export type SecurityChange = keyof (typeof texts)['en']['mail']['securityNotice']['changes'];

export interface SecurityNotice {
  givenName: string;
  atMs: number;
  change: SecurityChange;
  /** Which one, in the member's words: a passkey's name, say. */
  detail?: string;
  /** Where it was changed: the device's name and its IP address. */
  device: string;
  address: string;
}

export type MailTemplate = keyof MailValues;

/** The recipient of decoys. RFC 2606: no domain has this name. */
export const decoyAddress = 'nobody@example.invalid';

interface MessageOptions {
  /** The same id within five minutes is one message (the specification's MessageDeduplicationId). */
  deduplicationId?: string;
  /** Messages of one group arrive in the order in which they were written (MessageGroupId). */
  groupId?: string;
  /** Not delivered after this moment (milliseconds since the epoch): a code that is void by then, say. */
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
  /** E.164. */
  to: string;
  text: string;
}

/** Shown to a member inside the marketplace. */
export interface Notification extends MessageOptions {
  channel: 'notification';
  userId: UserId;
  title: string;
  description: string;
  category: string;
  /** It tells of a change to how the member signs in: kept longest, and shown first. Callers of the API cannot set it. */
  security?: true;
  /** What else the sender says of it, in the specification's names (pagename, company, …). */
  details?: Record<string, string>;
}

/** A client app hears that a session of a member's is over (OpenID Connect Back-Channel Logout 1.0). */
export interface LogoutNotice extends MessageOptions {
  channel: 'logout-token';
  clientId: string;
  /** Whose session it was, as the client app's id tokens named both. */
  sub: string;
  sid: string;
  /** The client app's registration when the session ended: it may be removed by the time it is told. */
  address: string;
  algorithm: 'ES256' | 'RS256';
}

export type Message = Mail | MappedMail | Sms | Notification | LogoutNotice;

/** A message as the outbox stored it: the properties that decide how it is delivered, and to whom. */
export const messageSchema: z.ZodType<Message> = checkedAs<Message>(
  z.discriminatedUnion('channel', [
    z.looseObject({ channel: z.literal('mail'), to: z.string(), template: z.string(), values: z.looseObject({}) }),
    z.looseObject({ channel: z.literal('sms'), to: z.string(), text: z.string() }),
    z.looseObject({ channel: z.literal('notification'), userId: userIdSchema, title: z.string() }),
    z.looseObject({ channel: z.literal('logout-token'), clientId: z.string(), address: z.string(), sub: z.string() }),
  ]),
);
