import { type Command, Option } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { type Language, languages } from '../../locales/index.ts';
import { mailLook } from '../deps.ts';
import { type MailTemplate, mailTemplates, renderMail, sampleMail } from '../messages/index.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Act, CliIo, Result } from './io.ts';

interface PreviewOptions {
  lang: Language;
  html?: boolean;
  text?: boolean;
  json?: boolean;
}

function preview(io: CliIo, name: string, { lang, html = false, text = false }: PreviewOptions): Result {
  const template = mailTemplates.find((known): known is MailTemplate => known === name);
  if (template === undefined) {
    throw new CliError(exitCodes.usage, `error: no mail is called ${name}; they are ${mailTemplates.join(', ')}`);
  }
  if (html && text) throw new CliError(exitCodes.usage, 'error: give one of --html and --text');
  const mail = renderMail(sampleMail(template, lang), mailLook(loadConfig(io.env)));
  return { json: mail, text: html ? mail.html : `Subject: ${mail.subject}\n\n${mail.text.trimEnd()}` };
}

export function mailCommands(program: Command, io: CliIo, act: Act): void {
  const mails = program.command('mail').description('the mails that Foyer sends by itself');
  mails
    .command('preview <name>')
    .description('print a mail with made-up values, in the look of this configuration')
    .addOption(new Option('--lang <L>', 'the language').choices(languages).default('en'))
    .option('--text', 'subject and plain text (the default)')
    .option('--html', 'the HTML document')
    .option('--json', 'print JSON: {"subject", "html", "text"}')
    .addHelpText(
      'after',
      `
The names are ${mailTemplates.join(', ')}.

Examples:
  foyer mail preview verify-email --lang de
  foyer mail preview password-reset --html > mail.html`,
    )
    .action((name: string, options: PreviewOptions) => act(async () => preview(io, name, options), options));
}
