import type { IncomingMessage } from 'node:http';

/**
 * From where a request comes that has not gone through Express, as Express's `req.ip` says it: the nearest address that is
 * no proxy of ours. What stands further away in X-Forwarded-For is the caller's own word.
 *
 * @param trusts whether the proxy at this address is believed, that many hops away (Express's `trust proxy`)
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
