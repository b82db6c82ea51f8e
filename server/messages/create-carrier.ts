import type { MailCarrier, SmsCarrier } from './carrier.ts';
import { type TwilioSettings, twilioCarrier } from './carrier-twilio.ts';

export interface MailCarrierSettings {
  sendGrid?: { apiKey: string; url: string } | undefined;
  smtpUrl?: string | undefined;
}

/** SendGrid if there is a key, else SMTP, else none. The library of the other one is not loaded. */
export async function createMailCarrier({ sendGrid, smtpUrl }: MailCarrierSettings): Promise<MailCarrier | undefined> {
  if (sendGrid) return (await import('./carrier-sendgrid.ts')).sendGridCarrier(sendGrid);
  if (smtpUrl !== undefined) return (await import('./carrier-smtp.ts')).smtpCarrier({ url: smtpUrl });
  return undefined;
}

/** Twilio if there is an account, else none. */
export function createSmsCarrier(twilio: TwilioSettings | undefined): SmsCarrier | undefined {
  return twilio && twilioCarrier(twilio);
}
