import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import type { ForeignApp, ForeignClient } from './foreign-app.ts';

/** A member at a foreign client app: one browser for the app and for Foyer. */
export interface Visit {
  foyer: TestFoyer;
  app: ForeignApp;
  client: ForeignClient;
  browser: Browser;
}

const isRedirect = ({ status }: Response) => status >= 300 && status < 400;

/** Follows the redirects of an address as far as they stay at the app; returns the last answer. */
export async function followInApp(browser: Browser, app: ForeignApp, address: string): Promise<Response> {
  let answer = await browser.get(new URL(address, app.url).href);
  for (let hops = 0; isRedirect(answer) && hops < 10; hops += 1) {
    const location = locationOf(answer);
    if (!location.startsWith(app.url)) return answer;
    answer = await browser.get(location);
  }
  return answer;
}

/** An answer of the app as JSON; what it has written tells why there is none. */
export async function readJson(app: ForeignApp, answer: Response): Promise<unknown> {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`answered ${answer.status} without JSON: ${text.slice(0, 2_000)}\n${app.output().slice(-4_000)}`);
  }
}

/** The address at Foyer that the app sends the browser to. */
export async function beginSignIn({ app, client, browser }: Visit): Promise<string> {
  const { begin = '/sign-in' } = client;
  if (typeof begin !== 'string') return begin(browser, app);
  const answer = await followInApp(browser, app, begin);
  if (!isRedirect(answer)) throw new Error(`${answer.status}: ${await answer.text()}\n${app.output().slice(-4_000)}`);
  return locationOf(answer);
}

/** Signs a member in at Foyer for the app; returns what the app knows of the member. */
export async function signIn(visit: Visit, user: User): Promise<unknown> {
  const { app, browser } = visit;
  const callback = await signInFor(browser, { url: await beginSignIn(visit) }, user);
  const answer = await followInApp(browser, app, callback);
  if (answer.status >= 400) throw new Error(`${answer.status}: ${await answer.text()}\n${app.output().slice(-4_000)}`);
  return readJson(app, await browser.get(`${app.url}/me`));
}

/** Signs out at the app, and follows it through Foyer; returns the address that the browser ends at. */
export async function signOut({ app, client, browser }: Visit): Promise<string> {
  const { signOut: out = '/sign-out' } = client;
  const atFoyer = typeof out === 'string' ? locationOf(await followInApp(browser, app, out)) : await out(browser, app);
  return locationOf(await browser.get(atFoyer, { from: 'cross-site' }));
}

/** Lets the app refresh its tokens; returns what it knows of the member then. */
export async function refresh({ app, client, browser }: Visit): Promise<unknown> {
  if (typeof client.refreshes === 'function') return client.refreshes(browser, app);
  return readJson(app, await followInApp(browser, app, '/refresh'));
}
