import { parse } from 'tldts';

/**
 * What is wrong with a domain whose hosts are to share cookies, or undefined. Foyer's own host must lie in it (a browser takes
 * no other), and it must be somebody's: what lies under a public suffix belongs to strangers (RFC 6265, section 5.3;
 * publicsuffix.org, with the suffixes that hosting companies give out).
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
