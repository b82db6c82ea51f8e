import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { refreshOf } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/** Presses a button that leads to a provider. @returns where the provider is asked */
export async function press(browser: Browser, path: string, fields: Record<string, string> = {}): Promise<URL> {
  const answer = await browser.post(path, fields);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.headers.get('location')}`);
  return new URL(refreshOf(await answer.text()));
}

/** Follows the answer of the provider (`answerAs`) back to Foyer. */
export async function comeBack(browser: Browser, asked: URL): Promise<Response> {
  const said = await sendRequest(asked, { redirect: 'manual' });
  const back = new URL(locationOf(said));
  return browser.get(back.pathname + back.search, { from: 'cross-site' });
}

/** Presses a button and follows the answer of the provider back to Foyer. */
export async function comeBy(browser: Browser, path: string, fields: Record<string, string> = {}): Promise<Response> {
  return comeBack(browser, await press(browser, path, fields));
}

/** The browser of Instagram: some providers accept no sign-in there. */
export const inInstagram =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 330.0';

export interface ProviderSetup {
  foyer: TestFoyer;
  providers: TestProviders;
  close(): Promise<void>;
}

/** A Foyer with every kind of provider; Amazon has no sign-up. */
export async function startWithProviders(): Promise<ProviderSetup> {
  const providers = await startProviders();
  providers.write(
    'logo.svg',
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle r="9" cx="10" cy="10" /></svg>',
  );
  const foyer = await startFoyer(anyBackend, {
    ...providers.environment((file) => ({
      ...file,
      amazon: { signUp: false },
      providers: [...file.providers.map((one) => ({ ...one, logo: 'logo.svg' }))],
    })),
    GUESS_LIMIT_ADDRESS: '100000',
  });
  return {
    foyer,
    providers,
    async close() {
      await foyer.close();
      await providers.close();
    },
  };
}

export async function page(foyer: TestFoyer, path: string, headers: Record<string, string> = {}) {
  const answer = await foyer.browser().get(path, { headers });
  return { status: answer.status, html: await answer.text() };
}

/** Every button of a page that leads to a provider, in its order. */
export const ways = (html: string) =>
  [...html.matchAll(/formaction="((?!\/language)[^"]+)"/gi)].map(([, to]) => to?.replaceAll('&amp;', '&'));

/** The words of a page without its tags. */
export const plain = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
