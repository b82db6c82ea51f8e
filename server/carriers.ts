import type { Config } from '../config/load.ts';
import { proxyFor } from '../config/outgoing-proxy.ts';
import type { Extensions } from './extensions.ts';
import {
  type CarrierState,
  type Carriers,
  checkSendGrid,
  checkSmtp,
  checkTwilio,
  createMailCarrier,
  createSmsCarrier,
  type MailCarrierSettings,
  type TwilioSettings,
} from './messages/index.ts';

/** The mail service of the configuration: SendGrid before SMTP. */
export function mailSettings(config: Config): MailCarrierSettings {
  const { SENDGRID_API_KEY: apiKey, SENDGRID_URL: url, SMTP_URL: smtpUrl } = config;
  return {
    sendGrid: apiKey === undefined ? undefined : { apiKey, url },
    smtp: smtpUrl === undefined ? undefined : { url: smtpUrl, proxy: proxyFor(config, smtpUrl) },
  };
}

/** The configuration has all variables or none. */
export function twilioSettings(config: Config): TwilioSettings | undefined {
  const { TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken, TWILIO_URL: url } = config;
  if (accountSid === undefined || authToken === undefined) return undefined;
  const { TWILIO_FROM: from, TWILIO_MESSAGING_SERVICE_SID: messagingServiceSid } = config;
  return { accountSid, authToken, url, sender: messagingServiceSid ? { messagingServiceSid } : { from: from ?? '' } };
}

/** The carriers of messages. A sandbox sends none: its carriers come with the extension. */
export async function createCarriers(config: Config, extensions: Pick<Extensions, 'carriers'> = {}): Promise<Carriers> {
  if (extensions.carriers) return extensions.carriers;
  if (config.SANDBOX) throw new Error('a sandbox sends no messages');
  return { mail: await createMailCarrier(mailSettings(config)), sms: createSmsCarrier(twilioSettings(config)) };
}

interface CheckedService {
  name: 'sendgrid' | 'smtp' | 'twilio';
  state: CarrierState;
}

/** Asks the mail service whether it accepts the credentials, without a mail; undefined without a service. */
export async function checkMailService(config: Config): Promise<CheckedService | undefined> {
  const { sendGrid, smtp } = mailSettings(config);
  if (sendGrid) return { name: 'sendgrid', state: await checkSendGrid(sendGrid) };
  return smtp && { name: 'smtp', state: await checkSmtp(smtp) };
}

/** The same for text messages, and whether the account has the sender. */
export async function checkTextService(config: Config): Promise<CheckedService | undefined> {
  const settings = twilioSettings(config);
  return settings && { name: 'twilio', state: await checkTwilio(settings) };
}
