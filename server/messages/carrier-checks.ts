import { parseUnknownJson, propertyIn, readShortText } from '../shared/index.ts';
import { toNetworkReason } from './carrier.ts';
import type { SmtpSettings } from './carrier-smtp.ts';
import type { TwilioSettings } from './carrier-twilio.ts';

/** The answer of a mail or text message service to its credentials, without a message. */
export type CarrierState =
  | { kind: 'ready' }
  /** It does not answer, or not with TLS. */
  | { kind: 'away'; why: string }
  /** It answers, but accepts no messages with these credentials. */
  | { kind: 'refused'; why: string }
  /** The account has no such sender. */
  | { kind: 'no-sender'; why: string };

const timeoutMs = 10_000;
/** Lists of rights and senders have some kilobytes. */
const maxBytes = 1_048_576;

/** Connects, demands TLS as a delivery does, and signs in. */
export async function checkSmtp(settings: Omit<SmtpSettings, 'timeoutMs'>): Promise<CarrierState> {
  // The library is loaded on demand.
  const { smtpTransport } = await import('./carrier-smtp.ts');
  const transport = smtpTransport({ ...settings, timeoutMs });
  try {
    await transport.verify();
    return { kind: 'ready' };
  } catch (error) {
    const why = String(propertyIn(error, 'message'));
    return propertyIn(error, 'code') === 'EAUTH' ? { kind: 'refused', why } : { kind: 'away', why };
  } finally {
    transport.close();
  }
}

/** Asks for a record of the service. @param refusal the status that refuses these credentials, beside 401 */
async function ask(
  address: URL,
  { authorization, refusal }: { authorization: string; refusal: number },
): Promise<{ kind: 'answered'; body: unknown } | CarrierState> {
  try {
    const answer = await fetch(address, {
      headers: { Authorization: authorization, Accept: 'application/json' },
      // Credentials must not follow a redirect.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status } = answer;
    const body = await readJson(answer);
    if (status === 200) return { kind: 'answered', body };
    return { kind: status === 401 || status === refusal ? 'refused' : 'away', why: `it answers ${status}` };
  } catch (error) {
    return { kind: 'away', why: toNetworkReason(error) };
  }
}

async function readJson(answer: Response): Promise<unknown> {
  try {
    return parseUnknownJson((await readShortText(answer, maxBytes)) ?? '');
  } catch {
    return undefined;
  }
}

/** Tests whether the key may send mail: SendGrid's Scopes API, version 3. */
export async function checkSendGrid({ apiKey, url }: { apiKey: string; url: string }): Promise<CarrierState> {
  const answer = await ask(new URL('/v3/scopes', url), { authorization: `Bearer ${apiKey}`, refusal: 403 });
  if (answer.kind !== 'answered') return answer;
  const scopes: unknown = Reflect.get(Object(answer.body), 'scopes');
  return Array.isArray(scopes) && scopes.includes('mail.send')
    ? { kind: 'ready' }
    : { kind: 'refused', why: 'the key lacks the scope mail.send' };
}

interface SenderSource {
  address: URL;
  /** Tests whether the answer has it. */
  has(body: unknown): boolean;
}

/** Whether one entry of a list in the answer passes. */
const hasEntry = (body: unknown, list: string, passes: (entry: unknown) => boolean): boolean => {
  const entries: unknown = propertyIn(body, list);
  return Array.isArray(entries) && entries.some(passes);
};

/**
 * Where Twilio lists a sender: Messaging Services (a host of its own), short codes, or the account's numbers. A name is
 * listed nowhere.
 */
function senderSource({ accountSid, sender, url }: TwilioSettings): SenderSource | undefined {
  if ('messagingServiceSid' in sender) {
    const address = new URL(`/v1/Services/${sender.messagingServiceSid}`, url);
    address.hostname = address.hostname.replace(/^api\./, 'messaging.');
    return { address, has: (body) => propertyIn(body, 'sid') === sender.messagingServiceSid };
  }
  const { from } = sender;
  const account = `/2010-04-01/Accounts/${accountSid}`;
  if (/^\d+$/.test(from)) {
    const address = new URL(`${account}/SMS/ShortCodes.json?${new URLSearchParams({ ShortCode: from })}`, url);
    const has = (body: unknown) => hasEntry(body, 'short_codes', (entry) => propertyIn(entry, 'short_code') === from);
    return { address, has };
  }
  if (!from.startsWith('+')) return undefined;
  const address = new URL(`${account}/IncomingPhoneNumbers.json?${new URLSearchParams({ PhoneNumber: from })}`, url);
  const isTextable = (entry: unknown) =>
    propertyIn(entry, 'phone_number') === from && propertyIn(propertyIn(entry, 'capabilities'), 'sms') === true;
  return { address, has: (body) => hasEntry(body, 'incoming_phone_numbers', isTextable) };
}

async function checkSender(settings: TwilioSettings, authorization: string): Promise<CarrierState> {
  const source = senderSource(settings);
  if (!source) return { kind: 'ready' };
  const { address, has } = source;
  const answer = await ask(address, { authorization, refusal: 404 });
  const why = 'the account has no such number that sends text messages, or no such messaging service';
  if (answer.kind === 'answered') return has(answer.body) ? { kind: 'ready' } : { kind: 'no-sender', why };
  return answer.kind === 'refused' ? { kind: 'no-sender', why } : answer;
}

/** Tests whether the account exists, is active and has the sender. */
export async function checkTwilio(settings: TwilioSettings): Promise<CarrierState> {
  const { accountSid, authToken, url } = settings;
  const address = new URL(`/2010-04-01/Accounts/${accountSid}.json`, url);
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  const answer = await ask(address, { authorization, refusal: 404 });
  if (answer.kind !== 'answered') return answer;
  const status = String(Reflect.get(Object(answer.body), 'status'));
  if (status !== 'active') return { kind: 'refused', why: `the account is ${status}` };
  return checkSender(settings, authorization);
}
