import { isIP } from 'node:net';

/** The names of networks that Express supports. */
const networks = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** As in 255.255.0.0: ones, then zeros. */
function isNetmask(text: string): boolean {
  if (isIP(text) !== 4) return false;
  const bits = text
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
  return /^1+0*$/.test(bits);
}

function isAddressOrNetwork(text: string): boolean {
  const slash = text.indexOf('/');
  const [address, range] = slash < 0 ? [text, undefined] : [text.slice(0, slash), text.slice(slash + 1)];
  const kind = isIP(address);
  // Without a zone: fe80::1%eth0 cannot be the address of a remote proxy.
  if (kind === 0 || address.includes('%')) return false;
  if (range === undefined) return true;
  if (/^\d{1,3}$/.test(range)) return Number(range) >= 1 && Number(range) <= (kind === 4 ? 32 : 128);
  return kind === 4 && isNetmask(range);
}

/**
 * TRUST_PROXY in the format of Express: a number of proxies, or addresses, networks and names separated by commas.
 * @returns undefined if Express would reject it
 */
export function parseTrustProxy(value: string): number | string | undefined {
  const text = value.trim();
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const parts = text.split(',').map((part) => part.trim());
  return parts.every((part) => networks.has(part) || isAddressOrNetwork(part)) ? parts.join(',') : undefined;
}
