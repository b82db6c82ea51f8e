import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Listening } from '../setting.ts';

/** Listens as the product does, on a free port of this machine alone. */
export function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 30_000, headersTimeout: 15_000 }, listener);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as AddressInfo).port }));
  });
}
