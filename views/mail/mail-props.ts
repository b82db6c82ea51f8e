import type { MailContext } from './mail-context.ts';

/** The properties of every mail. */
export interface MailProps<Values> {
  ctx: MailContext;
  subject: string;
  values: Values;
}
