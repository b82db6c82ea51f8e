import { z } from 'zod';
import {
  type ApiOperation,
  consumeLimits,
  defineOperation,
  doc,
  HttpError,
  linesField,
  rateLimits,
  requirePrincipal,
  textField,
} from '../http/index.ts';
import { toUserId } from '../shared/index.ts';
import { isMailAddress } from './addresses.ts';
import type { MessageOperationsDeps } from './deps.ts';
import { decoyAddress, type Mail, type MappedMail } from './message.ts';
import { requireAllowed } from './message-operation.ts';
import type { Recipient } from './recipients.ts';

const sentEmailBody = z.object({
  emailAddress: z
    .string()
    .refine(isMailAddress, 'a mail address')
    .meta({ ...doc('Address of a member', 'ada@example.com'), format: 'email', maxLength: 254 }),
  action: z
    .string()
    .regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'the name of a template')
    .meta({
      ...doc('`password`, `welcome`, or the name of a template that the operator has configured', 'welcome'),
      maxLength: 64,
    }),
  fullname: textField(200).optional().meta(doc('Merge variable of the template', 'Ada Lovelace')),
  pagename: textField(200).optional().meta(doc('Merge variable of the template', 'search')),
  plan: textField(100).optional().meta(doc('Merge variable of the template', '12')),
  variables: z
    .record(z.string().regex(/^[A-Za-z_]\w{0,49}$/, 'letters, digits and _'), linesField(2_000))
    .refine((variables) => Object.keys(variables).length <= 50, 'at most 50')
    .optional()
    .meta(doc('Further merge variables of the template', { city: 'Berlin' })),
});
type SentEmail = z.infer<typeof sentEmailBody>;

/** The product's own mails that a client app may send: none with a code. */
function ownMail(action: string, to: Recipient, nowMs: number): Mail | undefined {
  const { email, lang, givenName } = to;
  const common = { channel: 'mail', to: email, lang } as const;
  if (action === 'password') return { ...common, template: 'password-changed', values: { givenName, atMs: nowMs } };
  if (action === 'welcome') return { ...common, template: 'welcome', values: { givenName } };
  return undefined;
}
/** Replaces the user in decoys. */
const unknown: Recipient = { userId: toUserId(''), email: decoyAddress, lang: 'en', givenName: '' };
const ownActions: ReadonlySet<string> = new Set(['password', 'welcome']);

function mappedMail({ action, variables, ...args }: SentEmail, to: string): MappedMail {
  const { emailAddress: _, ...fields } = args;
  const named = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const values = { ...variables, ...Object.fromEntries(named), emailAddress: to };
  return { channel: 'mail', to, template: `mapped:${action}`, values };
}

/** `POST /sentEmail`: client apps send a mail of a known template to users. They never determine its text. */
export function sentEmail(deps: MessageOperationsDeps): ApiOperation {
  const { database, kv, outbox, recipients, templates, openTemplates, uniformAnswers, digest, now } = deps;
  return defineOperation({
    method: 'post',
    path: '/sentEmail',
    id: 'sentEmail',
    summary: 'Send a mail to a member',
    description: 'The template decides the text. A mail with a code cannot be sent by this call.',
    body: sentEmailBody,
    answer: z
      .object({ status: z.literal('accepted').meta(doc('Always accepted')) })
      .meta({ id: 'MailAccepted', description: 'The mail is queued.' }),
    problems: { 404: 'No member has this address' },
    async handle({ req, body }) {
      const principal = requirePrincipal(req);
      if (principal.kind !== 'client') throw new HttpError('wrongCaller', { detail: 'not available to users' });
      const { action } = body;
      if (!ownActions.has(action) && !templates.has(action)) {
        throw new HttpError('validation', {
          detail: 'no such template',
          invalidParams: [{ name: 'body.action', detail: 'no such template' }],
        });
      }
      const member = await recipients.byEmail(body.emailAddress);
      const anybody = !ownActions.has(action) && openTemplates.has(action);
      const to = member?.email ?? (anybody ? body.emailAddress.toLowerCase() : undefined);
      // Over all client apps, so that Foyer cannot flood a mailbox.
      const recipient = digest(to ?? body.emailAddress.toLowerCase());
      requireAllowed(await consumeLimits(kv, rateLimits.sentEmail, { recipient }), 'too many mails to one address');
      if (to === undefined && !uniformAnswers) {
        throw new HttpError('unknownMember', { detail: 'no user with this address' });
      }
      const mail = ownMail(action, member ?? unknown, now()) ?? mappedMail(body, to ?? decoyAddress);
      const concealment = { decoy: to === undefined, delayed: uniformAnswers };
      await database.transaction((trx) => outbox.add(trx, mail, concealment));
      outbox.wake();
      return { status: 'accepted' as const };
    },
  });
}
