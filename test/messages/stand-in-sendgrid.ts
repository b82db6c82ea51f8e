import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** SendGrid's Mail Send, version 3, as far as Foyer uses it: the body in its own names. */
export interface SendGridMail {
  personalizations: {
    to: { email: string; name?: string }[];
    dynamic_template_data?: Record<string, string>;
    substitutions?: Record<string, string>;
    custom_args?: Record<string, string>;
    headers?: Record<string, string>;
  }[];
  from: { email: string; name?: string };
  reply_to?: { email: string };
  subject?: string;
  content?: { type: string; value: string }[];
  template_id?: string;
  headers?: Record<string, string>;
  custom_args?: Record<string, string>;
  tracking_settings?: object;
}

export interface ReceivedMail {
  headers: IncomingHttpHeaders;
  body: SendGridMail;
}

interface Refusal {
  status: number;
  errors?: { message: string; field: string | null }[];
}

const required = ['personalizations', 'from'] as const;

/** The faults of a request by the API reference of POST /v3/mail/send. */
function faultsOf({ headers, body }: ReceivedMail, apiKey: string): string[] {
  const [first, ...more] = body.personalizations ?? [];
  const contents = body.content?.map(({ type }) => type) ?? [];
  return [
    ...(headers.authorization === `Bearer ${apiKey}` ? [] : ['authorization']),
    ...(headers['content-type']?.startsWith('application/json') ? [] : ['content type']),
    ...required.filter((name) => body[name] === undefined),
    ...(first?.to.length === 1 && more.length === 0 ? [] : ['not one recipient']),
    ...(body.template_id === undefined && body.subject === undefined ? ['subject'] : []),
    // Plain text first.
    ...(body.template_id === undefined && contents.join() !== 'text/plain,text/html' ? ['content'] : []),
  ];
}

/** A local SendGrid that checks every request and keeps the accepted mails. */
export async function startSendGrid(apiKey: string) {
  const received: ReceivedMail[] = [];
  const faults: string[] = [];
  let refusal: Refusal | undefined;
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const answer = (status: number, body?: object) =>
      res
        .writeHead(status, { 'content-type': 'application/json', 'x-message-id': 'theirs' })
        .end(body && JSON.stringify(body));
    if (req.method !== 'POST' || req.url !== '/v3/mail/send')
      return answer(404, { errors: [{ message: 'not found' }] });
    const mail = { headers: req.headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
    faults.push(...faultsOf(mail, apiKey));
    if (refusal) return answer(refusal.status, { errors: refusal.errors });
    received.push(mail);
    return answer(202);
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
