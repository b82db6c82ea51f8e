import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { clientIp } from '../../server/http/index.ts';

/** What Express says of the same request, which is the measure. */
async function both(trustProxy: unknown, forwarded: string | undefined): Promise<[ours: string, express: string]> {
  const app = express().set('trust proxy', trustProxy);
  let seen: [string, string] | undefined;
  app.use((req, res) => {
    const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
    seen = [clientIp(req as IncomingMessage, trusts), req.ip ?? ''];
    res.end();
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const asked = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', headers }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  server.close();
  if (!seen) throw new Error('no request arrived');
  return seen;
}

describe('clientIp', () => {
  it.each([
    [false, undefined, '127.0.0.1'],
    [false, '203.0.113.9', '127.0.0.1'],
    [1, undefined, '127.0.0.1'],
    [1, '203.0.113.9', '203.0.113.9'],
    // What the caller wrote itself stands before what the proxy added.
    [1, '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    [2, '198.51.100.1, 203.0.113.9, 10.0.0.1', '203.0.113.9'],
    [5, '198.51.100.1, 203.0.113.9', '198.51.100.1'],
    ['loopback', '198.51.100.1,203.0.113.9', '203.0.113.9'],
    ['loopback, 203.0.113.9', '198.51.100.1, 203.0.113.9', '198.51.100.1'],
    [1, '2001:db8::1', '2001:db8::1'],
  ])(
    'With TRUST_PROXY %j and X-Forwarded-For %j the address is %s, as in Express',
    async (trustProxy, forwarded, expected) => {
      expect(await both(trustProxy, forwarded)).toEqual([expected, expected]);
    },
  );
});
