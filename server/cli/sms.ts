import { Option } from 'commander';
import { loadConfig } from '../../config/load.ts';
import type { Language } from '../../locales/index.ts';
import { twilioSettings } from '../carriers.ts';
import { codeText, createSmsCarrier } from '../messages/index.ts';
import type { Program } from './command.ts';
import { CliError, exitCodes, usageError } from './errors.ts';
import type { CliIo, Result } from './io.ts';
import { languageOption } from './mail.ts';
import { sendAtOnce } from './send-at-once.ts';
import { printable } from './text.ts';

interface SendOptions {
  to: string;
  lang: Language;
}

/** Sends one code that opens nothing, without the outbox and its limits, to print the answer at once. */
async function send(io: CliIo, { to, lang }: SendOptions): Promise<Result> {
  if (!/^\+[1-9]\d{6,14}$/.test(to)) throw usageError('--to: write a number as in +31612345642');
  const config = loadConfig(io.env);
  const carrier = createSmsCarrier(twilioSettings(config));
  if (!carrier) {
    throw new CliError(
      exitCodes.trouble,
      'No service for text messages is configured: set TWILIO_ACCOUNT_SID and so on.',
    );
  }
  const { BRAND_NAME: brandName, PUBLIC_URL: publicUrl } = config;
  const text = codeText({ code: '000000', minutes: 10, brandName, publicUrl, lang });
  const answer = await sendAtOnce({ io, config, refusal: 'The service has not taken the text message' }, (options) =>
    carrier.send({ to, text }, options),
  );
  return {
    json: { to, service: carrier.name, taken: true, answer },
    text: `The service (${carrier.name}) has taken a text message for ${to}.\nIts answer: ${printable(answer)}`,
  };
}

export function smsCommands({ group, io }: Program): void {
  const add = group('sms', 'the text messages that Foyer sends by itself');
  add('send', {
    description: 'send a code that opens nothing, to see whether text messages arrive',
    options: [new Option('--to <NUMBER>', 'where to, as in +31612345642').makeOptionMandatory(), languageOption()],
    json: 'print JSON: {"to", "service", "taken", "answer"}',
    help: `
The message goes to the service at once, past the outbox and the limits of SMS_…; it costs what each one costs. Exit code 4 when the service refuses it.

Example:
  foyer sms send --to +31612345642`,
    run: (options: SendOptions) => send(io, options),
  });
}
