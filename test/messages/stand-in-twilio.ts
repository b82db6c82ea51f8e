import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a form to Messages.json said, in Twilio's own names. */
export type TwilioMessage = Record<string, string>;

/** As Twilio answers: its own code beside HTTP's, and a message that names the number. */
interface Refusal {
  status: number;
  code?: number;
  message?: string;
}

const known = new Set(['To', 'Body', 'From', 'MessagingServiceSid']);

/** A Twilio on this machine that checks every request as its reference has it (Messages, 2010-04-01) and keeps what it takes. */
export async function startTwilio({ accountSid, authToken }: { accountSid: string; authToken: string }) {
  const received: TwilioMessage[] = [];
  const faults: string[] = [];
  let refusal: Refusal | undefined;
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const answer = (status: number, body: object) =>
      res.writeHead(status, { 'content-type': 'application/json;charset=utf-8' }).end(JSON.stringify(body));
    const refuse = ({ status, code = status, message = '' }: Refusal) =>
      answer(status, { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status });
    if (req.method !== 'POST' || req.url !== `/2010-04-01/Accounts/${accountSid}/Messages.json`) {
      return refuse({ status: 404, code: 20404, message: 'The requested resource was not found' });
    }
    const expected = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    if (req.headers.authorization !== expected) return refuse({ status: 401, code: 20003, message: 'Authenticate' });
    const message = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    if (!req.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) faults.push('content type');
    faults.push(...Object.keys(message).filter((name) => !known.has(name)));
    if (!message.To) return refuse({ status: 400, code: 21604, message: "A 'To' phone number is required." });
    if (!message.Body) return refuse({ status: 400, code: 21602, message: 'Message body is required.' });
    if (!message.From === !message.MessagingServiceSid) {
      return refuse({ status: 400, code: 21603, message: "A 'From' phone number is required." });
    }
    if (refusal) return refuse(refusal);
    received.push(message);
    return answer(201, {
      sid: `SM${'0'.repeat(31)}${received.length % 10}`,
      account_sid: accountSid,
      to: message.To,
      from: message.From ?? null,
      messaging_service_sid: message.MessagingServiceSid ?? null,
      body: message.Body,
      status: 'queued',
      direction: 'outbound-api',
      error_code: null,
      error_message: null,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    faults,
    /** Until told otherwise. */
    refuse(with_: Refusal | undefined) {
      refusal = with_;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
