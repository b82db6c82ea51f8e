import type { IncomingMessage } from 'node:http';
import express, { type Express } from 'express';

/** Tests whether the proxy at this address and number of hops is trusted. */
type TrustProxy = (address: string, hop: number) => boolean;

/** @param trustProxy addresses of proxies, or their number (Express's `trust proxy`) */
export function createExpress(trustProxy: string | number | undefined): { app: Express; trusts: TrustProxy } {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.set('trust proxy', trustProxy ?? false);
  return { app, trusts: app.get('trust proxy fn') };
}

/**
 * The client address of a request that did not pass through Express, computed like `req.ip`: the nearest address that
 * is not a trusted proxy. Addresses further away in X-Forwarded-For are unverified claims of the caller.
 */
export function clientIp({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>, trusts: TrustProxy): string {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const named = forwarded.map((address) => address.trim()).filter((address) => address !== '');
  const hops = [socket.remoteAddress ?? '', ...named.toReversed()];
  return hops.find((address, hop) => !trusts(address, hop)) ?? hops.at(-1) ?? '';
}
