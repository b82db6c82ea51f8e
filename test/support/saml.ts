import { parseSamlMessage, readRedirect, type SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { type Browser, locationOf } from './browser.ts';
import type { TestFoyer } from './foyer.ts';
import type { TestProviders } from './providers.ts';

/** A sign-in with SAML that a browser has started. */
export interface SamlAttempt {
  browser: Browser;
  /** The address of the request. */
  url: URL;
  relayState: string;
  /** The request as the provider reads it. */
  request: { id: string; acsUrl: string; app: string };
}

/** The target of a page that redirects by itself. */
export async function goingOnTo(page: Response): Promise<URL> {
  const text = await page.text();
  const [, address] = /http-equiv="refresh" content="\d+;\s*url=([^"]+)"/i.exec(text) ?? [];
  if (address === undefined) throw new Error(`a page that goes nowhere (${page.status}): ${text.slice(0, 500)}`);
  return new URL(address.replaceAll('&amp;', '&'));
}

/** Clicks the button of a SAML provider. */
export async function beginSaml(
  foyer: Pick<TestFoyer, 'browser'>,
  { browser = foyer.browser(), provider = 'acme-saml', search = '', fields = {} } = {} as {
    browser?: Browser;
    provider?: string;
    search?: string;
    fields?: Record<string, string>;
  },
): Promise<SamlAttempt> {
  const url = await goingOnTo(await browser.post(`/federation/${provider}${search}`, fields));
  const carried = readRedirect(url.search);
  const message = carried && parseSamlMessage(carried.xml);
  if (!message?.acsUrl || carried?.relayState === undefined) throw new Error(`no AuthnRequest: ${url}`);
  const request = { id: message.id, acsUrl: message.acsUrl, app: message.issuer };
  return { browser, url, relayState: carried.relayState, request };
}

/**
 * Posts a response like the page of a provider: cross-site, so without the browser's cookies.
 * @param path of the endpoint
 */
export function postFromElsewhere(
  foyer: Pick<TestFoyer, 'browser'>,
  path: string,
  fields: Record<string, string>,
): Promise<Response> {
  const elsewhere = { origin: 'https://idp.example', 'sec-fetch-site': 'cross-site' };
  return foyer.browser().post(path, fields, elsewhere);
}

export const inBase64 = (xml: string) => Buffer.from(xml, 'utf8').toString('base64');

/** Posts a response, and continues with the browser. @returns the target, as path and query */
export async function arrive(
  foyer: Pick<TestFoyer, 'browser' | 'url'>,
  { browser, relayState, request }: SamlAttempt,
  xml: string,
): Promise<string> {
  const { pathname } = new URL(request.acsUrl);
  const posted = await postFromElsewhere(foyer, pathname, { SAMLResponse: inBase64(xml), RelayState: relayState });
  const to = pathOf(posted);
  if (!to.includes('/finish?')) return to;
  return pathOf(await browser.get(to, { from: 'cross-site' }));
}

/** Path and query of a redirect's target. */
export function pathOf(answer: Response): string {
  const { pathname, search, hash } = new URL(locationOf(answer));
  return pathname + search + hash;
}

/** The provider's response to an attempt, with differences. */
export function answerXml(
  providers: TestProviders,
  { request }: Pick<SamlAttempt, 'request'>,
  change: SamlResponseOptions = {},
): Promise<string> {
  return providers.samlResponse({ ...providers.saml.usual(providers.people.saml.ada, request), ...change });
}

/** The log entries of federated sign-ins, the oldest first. */
export function federationLog(foyer: Pick<TestFoyer, 'logged'>): { outcome: string; detail?: string }[] {
  return foyer
    .logged()
    .split('\n')
    .filter((line) => line.includes('"act":"federation"'))
    .map((line) => JSON.parse(line));
}
