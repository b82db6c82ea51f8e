import { Option } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { type Language, languages } from '../../locales/index.ts';
import { mailSettings } from '../carriers.ts';
import { mailBrand, mailSender } from '../deps.ts';
import { applyTexts } from '../load-settings.ts';
import {
  createMailCarrier,
  isMailAddress,
  type MailTemplate,
  mailTemplates,
  renderMail,
  sampleMail,
} from '../messages/index.ts';
import type { Program } from './command.ts';
import { CliError, exitCodes, usageError } from './errors.ts';
import type { CliIo, Result } from './io.ts';
import { sendAtOnce } from './send-at-once.ts';
import { printable } from './text.ts';

interface PreviewOptions {
  lang: Language;
  html?: boolean;
  text?: boolean;
}

function toTemplate(name: string): MailTemplate {
  const template = mailTemplates.find((known): known is MailTemplate => known === name);
  if (template === undefined) {
    throw usageError(`no mail is called ${name}; they are ${mailTemplates.join(', ')}`);
  }
  return template;
}

function preview(io: CliIo, name: string, { lang, html = false, text = false }: PreviewOptions): Result {
  const template = toTemplate(name);
  if (html && text) throw usageError('give one of --html and --text');
  const config = loadConfig(io.env);
  applyTexts(config);
  const mail = renderMail(sampleMail(template, lang), mailBrand(config));
  return { json: mail, text: html ? mail.html : `Subject: ${mail.subject}\n\n${mail.text.trimEnd()}` };
}

interface SendOptions {
  to: string;
  lang: Language;
}

/** Sends one sample through the mail service without the outbox, to print the answer at once. */
async function send(io: CliIo, name: string, { to, lang }: SendOptions): Promise<Result> {
  const template = toTemplate(name);
  if (!isMailAddress(to)) throw usageError('--to: write a mail address');
  const config = loadConfig(io.env);
  applyTexts(config);
  const carrier = await createMailCarrier(mailSettings(config));
  if (!carrier)
    throw new CliError(exitCodes.trouble, 'No mail service is configured: set SENDGRID_API_KEY or SMTP_URL.');
  const { subject, html, text } = renderMail({ ...sampleMail(template, lang), to }, mailBrand(config));
  const replyTo = config.MAIL_SUPPORT_ADDRESS;
  const mail = { to, from: mailSender(config), subject, html, text, ...(replyTo !== undefined && { replyTo }) };
  const answer = await sendAtOnce({ io, config, refusal: 'The mail service has not taken the mail' }, (options) =>
    carrier.send(mail, options),
  );
  return {
    json: { template, to, service: carrier.name, taken: true, answer },
    text: `The mail service (${carrier.name}) has taken "${subject}" for ${to}.\nIts answer: ${printable(answer)}`,
  };
}

export const languageOption = () => new Option('--lang <L>', 'the language').choices(languages).default('en');

export function mailCommands({ group, io }: Program): void {
  const add = group('mail', 'the mails that Foyer sends by itself');
  add('preview <name>', {
    description: 'print a mail with made-up values, in the look of this configuration',
    options: [languageOption(), ['--text', 'subject and plain text (the default)'], ['--html', 'the HTML document']],
    json: 'print JSON: {"subject", "html", "text"}',
    help: `
The names are ${mailTemplates.join(', ')}.

Examples:
  foyer mail preview verify-email --lang de
  foyer mail preview password-reset --html > mail.html`,
    run: (name: string, options: PreviewOptions) => preview(io, name, options),
  });
  add('send <name>', {
    description: 'send a mail with made-up values, to see whether mails arrive',
    options: [new Option('--to <ADDRESS>', 'where to').makeOptionMandatory(), languageOption()],
    json: 'print JSON: {"template", "to", "service", "taken", "answer"}',
    help: `
The mail goes to the mail service at once, past the outbox; its codes and links open nothing. Exit code 4 when the service refuses it.

Example:
  foyer mail send welcome --to you@example.com`,
    run: (name: string, options: SendOptions) => send(io, name, options),
  });
}
