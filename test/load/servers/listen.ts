import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Listening } from '../setting.ts';

/** Listens like the product, but only on this machine and on a free port. */
export function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 30_000, headersTimeout: 15_000 }, listener);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as AddressInfo).port }));
  });
}
