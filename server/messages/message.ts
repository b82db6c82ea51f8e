import { z } from 'zod';
import type { Language } from '../../locales/index.ts';
import type { MailTemplate, MailValues } from '../../views/mail/index.ts';
import { type ClientId, clientIdSchema, type E164, e164Schema, type UserId, userIdSchema } from '../shared/index.ts';
import { checkedAs } from '../store/index.ts';

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

/** The content of one of the product's own mails. */
export type MailContent<Name extends MailTemplate = MailTemplate> = {
  [Template in Name]: { template: Template; to: string; lang: Language; values: MailValues[Template] };
}[Name];

export type Mail<Name extends MailTemplate = MailTemplate> = MessageOptions & { channel: 'mail' } & MailContent<Name>;

/** A template of the specification's list that the operator has mapped to one of the mail service's own. */
export interface MappedMail extends MessageOptions {
  channel: 'mail';
  to: string;
  template: `mapped:${string}`;
  /** Merge variables. */
  values: Record<string, string>;
}

interface Sms extends MessageOptions {
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
