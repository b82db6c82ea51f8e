import { parseUnknownJson, readShortText } from '../shared/index.ts';
import { PermanentDeliveryError, type SmsCarrier, toNetworkReason } from './carrier.ts';

export interface TwilioSettings {
  /** Starts with `AC`; the user name of the API. */
  accountSid: string;
  authToken: string;
  /** A number or name as the sender, or a messaging service that selects one (`MG…`). */
  sender: { from: string } | { messagingServiceSid: string };
  /** `https://api.twilio.com` */
  url: string;
  timeoutMs?: number;
}

/**
 * Twilio's error codes for numbers that a retry cannot help (its error dictionary): an invalid number, one without text
 * messages, a landline, a premium number, a short code, Foyer's own, one whose owner has answered STOP, or a country
 * that the account does not send to. An operator can repair errors of the sender, the account or the service.
 */
const ofTheNumber = new Set([21211, 21214, 21217, 21265, 21266, 21408, 21610, 21612, 21614, 21635]);

/** Longer than any answer about one message. */
const maxBytes = 65_536;

interface Answer {
  code?: unknown;
  message?: unknown;
  sid?: unknown;
  status?: unknown;
}

/**
 * Twilio's Programmable Messaging API, version 2010-04-01: one form to Messages.json, answered with 201. It has no
 * idempotency key: a message that was sent right before a crash may arrive twice.
 */
export function twilioCarrier({ accountSid, authToken, sender, url, timeoutMs = 15_000 }: TwilioSettings): SmsCarrier {
  const address = new URL(`/2010-04-01/Accounts/${accountSid}/Messages.json`, url);
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  const from: Record<string, string> =
    'from' in sender ? { From: sender.from } : { MessagingServiceSid: sender.messagingServiceSid };
  return {
    name: 'twilio',
    async send({ to, text }, { onAnswer }) {
      let answer: Response;
      try {
        answer = await fetch(address, {
          method: 'POST',
          headers: { Authorization: authorization, Accept: 'application/json' },
          body: new URLSearchParams({ To: to, Body: text, ...from }),
          // Credentials must not follow a redirect.
          redirect: 'error',
          signal: AbortSignal.timeout(timeoutMs),
        });
      } catch (error) {
        throw new Error(`Twilio: ${toNetworkReason(error)}`, { cause: error });
      }
      // A page of a proxy, with 200, has taken no message. After 201 it is taken, whatever comes of the body.
      if (answer.status === 201) {
        const { sid, status } = await readAnswer(answer);
        onAnswer?.(`${answer.status}, ${String(status)} as ${String(sid)}`);
        return;
      }
      throw refused(answer.status, await readAnswer(answer), to);
    },
  };
}

async function readAnswer(answer: Response): Promise<Answer> {
  try {
    const body = parseUnknownJson((await readShortText(answer, maxBytes)) ?? '');
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

/** Twilio's messages contain the number, which readers of the failure reason need not see. */
function refused(status: number, { code, message }: Answer, to: string): Error {
  const detail = typeof message === 'string' ? `: ${message.replaceAll(to, '…').replace(/\+\d{4,}/g, '…')}` : '';
  const why = `Twilio ${status}${typeof code === 'number' ? ` (${code})` : ''}${detail}`;
  return status === 400 && typeof code === 'number' && ofTheNumber.has(code)
    ? new PermanentDeliveryError(why)
    : new Error(why);
}
