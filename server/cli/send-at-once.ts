import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/load.ts';
import { createRedactor, listSecrets } from '../../config/redact.ts';
import type { CarrierOptions } from '../messages/index.ts';
import { CliError, exitCodes } from './errors.ts';
import type { CliIo } from './io.ts';

/**
 * Sends one message without the outbox.
 * @param context.refusal the beginning of the sentence about a refusal
 * @returns the service's answer without secrets
 * @throws {CliError} if it does not accept the message
 */
export async function sendAtOnce(
  { io, config, refusal }: { io: CliIo; config: Config; refusal: string },
  send: (options: CarrierOptions) => Promise<void>,
): Promise<string> {
  const redact = createRedactor(listSecrets(io.env, config.SECRET_KEYS));
  let answer = '';
  const onAnswer = (text: string) => {
    answer = redact(text);
  };
  try {
    await send({ idempotencyKey: randomUUID(), onAnswer });
    return answer;
  } catch (error) {
    throw new CliError(exitCodes.trouble, `${refusal}: ${redact(error)}`);
  }
}
