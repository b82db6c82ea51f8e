import { type Browser, locationOf } from '../support/browser.ts';
import { refreshOf } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';

/** Presses a button that leads to a provider. @returns where the provider is asked */
export async function press(browser: Browser, path: string, fields: Record<string, string> = {}): Promise<URL> {
  const answer = await browser.post(path, fields);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.headers.get('location')}`);
  return new URL(refreshOf(await answer.text()));
}

/** The provider answers at once (`answerAs`), and the browser comes back. */
export async function comeBack(browser: Browser, asked: URL): Promise<Response> {
  const said = await sendRequest(asked, { redirect: 'manual' });
  const back = new URL(locationOf(said));
  return browser.get(back.pathname + back.search, { from: 'cross-site' });
}

/** Both. */
export async function comeBy(browser: Browser, path: string, fields: Record<string, string> = {}): Promise<Response> {
  return comeBack(browser, await press(browser, path, fields));
}
