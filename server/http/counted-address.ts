import { isIPv4, isIPv6 } from 'node:net';

/** Some proxies hand an address on with its port. */
function withoutPort(ip: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(ip)?.[1] ?? ip;
}

/** Eight groups of an IPv6 address, in the URL parser's canonical form (RFC 5952), without a zone. */
function groupsOf(ip: string): string[] {
  const canonical = new URL(`http://[${ip.split('%')[0]}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(gap).fill('0'), ...right];
}

/** IPv4 as it is, also when it is mapped into IPv6; of IPv6 the eight groups. */
function read(address: string): string | string[] {
  const ip = withoutPort(address);
  if (!isIPv6(ip)) return ip;
  const groups = groupsOf(ip);
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return groups;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** An address as it is counted: IPv4 whole (also when mapped into IPv6), IPv6 by its first 64 bits. */
export function countedAddress(address: string): string {
  const ip = read(address);
  return typeof ip === 'string' ? ip : `${ip.slice(0, 4).join(':')}::/64`;
}

export interface CountedNetwork {
  network: string;
  /** How many times the limit of one address this network has. */
  times: number;
}

/**
 * The networks by which an address is counted, the narrowest first. One subscriber of IPv6 may hold a /56 or a /48, and one
 * of IPv4 a /24: each has its own limit, so that nobody multiplies the limit of an address by addresses that cost nothing.
 */
export function countedNetworks(address: string): [CountedNetwork, ...CountedNetwork[]] {
  const ip = read(address);
  const narrowest: CountedNetwork = { network: countedAddress(address), times: 1 };
  if (typeof ip !== 'string') {
    const [a = '0', b = '0', c = '0', d = '0'] = ip;
    const subnet = (Number.parseInt(d, 16) & 0xff00).toString(16);
    return [
      narrowest,
      { network: `${a}:${b}:${c}:${subnet}::/56`, times: 3 },
      { network: `${a}:${b}:${c}::/48`, times: 6 },
    ];
  }
  // The loopback network is this machine alone.
  if (!isIPv4(ip) || ip.startsWith('127.')) return [narrowest];
  return [narrowest, { network: `${ip.split('.').slice(0, 3).join('.')}.0/24`, times: 3 }];
}
