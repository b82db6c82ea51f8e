import type { IncomingMessage } from 'node:http';

/**
 * The client address of a request that did not pass through Express, computed like `req.ip`: the nearest address that
 * is not a trusted proxy. Addresses further away in X-Forwarded-For are unverified claims of the caller.
 * @param trusts tests whether the proxy at this address and number of hops is trusted (Express's `trust proxy`)
 */
export function clientIp(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trusts: (address: string, hop: number) => boolean,
): string {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const named = forwarded.map((address) => address.trim()).filter((address) => address !== '');
  const hops = [socket.remoteAddress ?? '', ...named.toReversed()];
  return hops.find((address, hop) => !trusts(address, hop)) ?? hops.at(-1) ?? '';
}
