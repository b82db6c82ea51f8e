import { parse } from 'tldts';

/**
 * The fault of a domain for shared cookies, or undefined. Foyer's own host must be in it (a browser accepts no other),
 * and it must have an owner: names under a public suffix belong to strangers (RFC 6265, section 5.3; publicsuffix.org,
 * with the suffixes of hosting companies).
 */
export function cookieDomainFault(domain: string, publicUrl: string): string | undefined {
  const { hostname } = new URL(publicUrl);
  const { domain: registrable, isIp } = parse(domain, { allowPrivateDomains: true, validateHostname: true });
  if (isIp || registrable === null) return `${domain} is no domain of yours; write one as in example.com`;
  if (parse(hostname).isIp || (hostname !== domain && !hostname.endsWith(`.${domain}`))) {
    return `${domain} does not hold ${hostname}, the host of PUBLIC_URL`;
  }
  return undefined;
}
