import { parseSamlMessage, readRedirect, type SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { type Browser, locationOf } from './browser.ts';
import type { TestFoyer } from './foyer.ts';
import type { TestProviders } from './providers.ts';

/** A sign-in by SAML that a browser has begun. */
export interface SamlAttempt {
  browser: Browser;
  /** Where the provider is asked. */
  url: URL;
  relayState: string;
  /** As the provider sees it. */
  request: { id: string; acsUrl: string; app: string };
}

/** Where a page goes on to by itself. */
export async function goingOnTo(page: Response): Promise<URL> {
  const text = await page.text();
  const [, address] = /http-equiv="refresh" content="\d+;\s*url=([^"]+)"/i.exec(text) ?? [];
  if (address === undefined) throw new Error(`a page that goes nowhere (${page.status}): ${text.slice(0, 500)}`);
  return new URL(address.replaceAll('&amp;', '&'));
}

/** Presses the button of a SAML provider. */
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
 * Posts an answer as the page of a provider does: from another site, so without the browser's cookies.
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

/** Posts an answer, and goes on with the browser. @returns where that one is led to, as path and query */
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

/** Path and query of where an answer leads. */
export function pathOf(answer: Response): string {
  const { pathname, search } = new URL(locationOf(answer));
  return pathname + search;
}

/** What the provider would answer to an attempt, with what is different. */
export function answerXml(
  providers: TestProviders,
  { request }: Pick<SamlAttempt, 'request'>,
  change: SamlResponseOptions = {},
): Promise<string> {
  return providers.samlResponse({ ...providers.saml.usual(providers.people.saml.ada, request), ...change });
}

/** What the log says of ways through providers, the oldest first. */
export function federationLog(foyer: Pick<TestFoyer, 'logged'>): { outcome: string; detail?: string }[] {
  return foyer
    .logged()
    .split('\n')
    .filter((line) => line.includes('"act":"federation"'))
    .map((line) => JSON.parse(line));
}
