import { propertyIn } from '../shared/index.ts';
import { toNetworkReason } from './carrier.ts';
import type { TwilioSettings } from './carrier-twilio.ts';

/** The answer of a mail or text message service to its credentials, without a message. */
export type CarrierState =
  | { kind: 'ready' }
  /** It does not answer, or not with TLS. */
  | { kind: 'away'; why: string }
  /** It answers, but accepts no messages with these credentials. */
  | { kind: 'refused'; why: string };

const timeoutMs = 10_000;

/** Connects, demands TLS as a delivery does, and signs in. */
export async function checkSmtp(url: string): Promise<CarrierState> {
  // The library is loaded on demand.
  const { smtpTransport } = await import('./carrier-smtp.ts');
  const transport = smtpTransport({ url, timeoutMs });
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
    const body: unknown = await answer.json().catch(() => undefined);
    if (status === 200) return { kind: 'answered', body };
    return { kind: status === 401 || status === refusal ? 'refused' : 'away', why: `it answers ${status}` };
  } catch (error) {
    return { kind: 'away', why: toNetworkReason(error) };
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

/** Tests whether the account exists and is active. */
export async function checkTwilio({
  accountSid,
  authToken,
  url,
}: Pick<TwilioSettings, 'accountSid' | 'authToken' | 'url'>): Promise<CarrierState> {
  const address = new URL(`/2010-04-01/Accounts/${accountSid}.json`, url);
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  const answer = await ask(address, { authorization, refusal: 404 });
  if (answer.kind !== 'answered') return answer;
  const status = String(Reflect.get(Object(answer.body), 'status'));
  return status === 'active' ? { kind: 'ready' } : { kind: 'refused', why: `the account is ${status}` };
}
