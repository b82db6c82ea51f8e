import { z } from 'zod';
import { parseCountries } from './countries.ts';
import { parseMailSender, parseMailTemplates } from './mail.ts';
import { text, webAddress, whole } from './value-rules.ts';

/** The variables for mails and text messages: a part of the schema in `schema.ts`. */
export const messageVariables = {
  /** The sender of mails. */
  MAIL_FROM: z
    .string()
    .transform((value, context) => {
      const sender = parseMailSender(value);
      if (sender !== undefined) return sender;
      context.addIssue('write a mail address, as in Foyer <no-reply@example.com>');
      return z.NEVER;
    })
    .optional(),
  /** The address for replies to them. */
  MAIL_SUPPORT_ADDRESS: z
    .string()
    .refine((value) => parseMailSender(value)?.address === value, 'write a mail address, as in help@example.com')
    .optional(),
  SENDGRID_API_KEY: z
    .string()
    .regex(/^SG\.[\w.-]+$/, 'write the key that SendGrid gave you: it begins with SG.')
    .optional(),
  SENDGRID_URL: webAddress.default('https://api.sendgrid.com'),
  SMTP_URL: z
    .string()
    .refine((value) => {
      const url = URL.parse(value);
      return (
        url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' && url.pathname.length <= 1
      );
    }, 'write smtp://user:password@host:587 or smtps://user:password@host:465')
    .optional(),
  /** The specification's further templates, by name, with SendGrid's own ids. */
  SENDGRID_TEMPLATES: z
    .string()
    .transform((value, context) => {
      const templates = parseMailTemplates(value);
      if (templates !== undefined) return templates;
      context.addIssue('write name=id, separated by commas, each name once');
      return z.NEVER;
    })
    .optional(),
  /** Those that may be sent to an address without a user. */
  SENDGRID_OPEN_TEMPLATES: z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    )
    .optional(),

  TWILIO_ACCOUNT_SID: z
    .string()
    .regex(/^AC[0-9a-f]{32}$/i, 'write the account SID that Twilio gave you: AC and 32 hexadecimal digits')
    .optional(),
  TWILIO_AUTH_TOKEN: text('the auth token of the Twilio account').optional(),
  /** A number of the account, or a name as the sender. */
  TWILIO_FROM: z
    .string()
    .regex(
      /^(\+\d{3,15}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 +_&-]{1,11})$/,
      'write a number of your Twilio account, as in +15557122661, or a sender’s name of at most 11 letters and digits',
    )
    .optional(),
  TWILIO_MESSAGING_SERVICE_SID: z
    .string()
    .regex(/^MG[0-9a-f]{32}$/i, 'write the SID of a messaging service: MG and 32 hexadecimal digits')
    .optional(),
  TWILIO_URL: webAddress.default('https://api.twilio.com'),
  /** The countries of text messages; unset: all. */
  SMS_COUNTRIES: z
    .string()
    .transform((value, context) => {
      const countries = parseCountries(value);
      if (countries !== undefined) return countries;
      context.addIssue('write countries as in DE,AT,CH: ISO 3166-1 codes of two letters, separated by commas');
      return z.NEVER;
    })
    .optional(),
  SMS_LIMIT_MEMBER: whole(1, 10_000).default(10),
  SMS_LIMIT_NUMBER: whole(1, 10_000).default(10),
  SMS_LIMIT_ADDRESS: whole(1, 1_000_000).default(20),
  SMS_LIMIT_OVERALL: whole(1, 10_000_000).default(500),
};
