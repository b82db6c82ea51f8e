import type { MailCarrier, SmsCarrier } from './carrier.ts';
import { type TwilioSettings, twilioCarrier } from './carrier-twilio.ts';

export interface MailCarrierSettings {
  sendGrid?: { apiKey: string; url: string } | undefined;
  smtp?: { url: string; proxy?: string | undefined } | undefined;
}

/** SendGrid if there is a key, else SMTP, else none. The library of the other one is not loaded. */
export async function createMailCarrier({ sendGrid, smtp }: MailCarrierSettings): Promise<MailCarrier | undefined> {
  if (sendGrid) return (await import('./carrier-sendgrid.ts')).sendGridCarrier(sendGrid);
  if (smtp) return (await import('./carrier-smtp.ts')).smtpCarrier(smtp);
  return undefined;
}

/** Twilio if there is an account, else none. */
export function createSmsCarrier(twilio: TwilioSettings | undefined): SmsCarrier | undefined {
  return twilio && twilioCarrier(twilio);
}
