import { isIPv4, isIPv6 } from 'node:net';

/** Some proxies send an address together with its port. */
function stripPort(ip: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(ip)?.[1] ?? ip;
}

/** The eight groups of an IPv6 address, in the canonical form of the URL parser (RFC 5952), without a zone. */
function ipv6Groups(ip: string): string[] {
  const canonical = new URL(`http://[${ip.split('%')[0]}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(gap).fill('0'), ...right];
}

/** An IPv4 address as text, also when it is mapped into IPv6; an IPv6 address as its eight groups. */
function parse(address: string): string | string[] {
  const ip = stripPort(address);
  if (!isIPv6(ip)) return ip;
  const groups = ipv6Groups(ip);
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return groups;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The bucket in which an address is counted: the whole IPv4 address (also when mapped into IPv6), or the IPv6 /64 network. */
export function ipBucket(address: string): string {
  const ip = parse(address);
  return typeof ip === 'string' ? ip : `${ip.slice(0, 4).join(':')}::/64`;
}

interface NetworkBucket {
  bucket: string;
  /** The maximum of this bucket is that of one address times this factor. */
  factor: number;
}

/**
 * All buckets in which an address is counted, the narrowest first. One IPv6 subscriber may hold a /56 or a /48, and one IPv4
 * subscriber a /24. Each of these networks has its own maximum, because addresses within them cost nothing.
 */
export function ipBuckets(address: string): [NetworkBucket, ...NetworkBucket[]] {
  const ip = parse(address);
  const narrowest: NetworkBucket = { bucket: ipBucket(address), factor: 1 };
  if (typeof ip !== 'string') {
    const [a = '0', b = '0', c = '0', d = '0'] = ip;
    const subnet = (Number.parseInt(d, 16) & 0xff00).toString(16);
    return [
      narrowest,
      { bucket: `${a}:${b}:${c}:${subnet}::/56`, factor: 3 },
      { bucket: `${a}:${b}:${c}::/48`, factor: 6 },
    ];
  }
  // The loopback network is this machine alone.
  if (!isIPv4(ip) || ip.startsWith('127.')) return [narrowest];
  return [narrowest, { bucket: `${ip.split('.').slice(0, 3).join('.')}.0/24`, factor: 3 }];
}
