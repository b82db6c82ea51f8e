import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Moment = 'arrived' | 'taken' | 'answered';

export interface Taken {
  key: string;
  change: string;
  group: string;
}

/**
 * A mail service that honours the idempotency key: it accepts a repeated mail and does not send it again.
 * @param refusing the share of requests that it refuses as busy
 */
export async function startHonestCarrier(random: () => number, refusing = 0.05) {
  const taken = new Map<string, Taken>();
  let repeated = 0;
  let hangs = false;
  let onMoment: (moment: Moment) => void = () => {};
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk);
    } catch {
      return; // It was killed in the middle of asking.
    }
    if (req.method === 'GET' && req.url === '/v3/scopes') {
      // The server asks once at its start; SendGrid answers with the rights of the key.
      if (!hangs) res.writeHead(200, { 'content-type': 'application/json' }).end('{"scopes":["mail.send"]}');
      return;
    }
    onMoment('arrived');
    await sleep(random() * 4);
    if (hangs) return;
    if (random() < refusing) {
      res.writeHead(503).end('{"errors":[{"message":"later"}]}');
      return;
    }
    const { personalizations, custom_args: { message_id: key = '' } = {} } = JSON.parse(
      Buffer.concat(chunks).toString(),
    );
    const { change = '', group = '' } = personalizations[0].dynamic_template_data ?? {};
    if (taken.has(key)) repeated += 1;
    else taken.set(key, { key, change, group });
    onMoment('taken');
    await sleep(random() * 4);
    res.writeHead(202).end();
    onMoment('answered');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The mails in the order of their arrival. */
    taken: () => [...taken.values()],
    repeated: () => repeated,
    listen(listener: (moment: Moment) => void) {
      onMoment = listener;
    },
    /** While true, it accepts every request and answers none. */
    setHanging(value: boolean) {
      hangs = value;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
