import * as oauth from 'oauth4webapi';

/** Tests use http. */
export const insecure = { [oauth.allowInsecureRequests]: true };

export async function discover(url: string) {
  const issuer = new URL(url);
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
}
