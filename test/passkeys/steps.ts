import type { User } from '../../server/users/index.ts';
import { Authenticator, type CreationOptions, type Oddity, type RequestOptions } from '../support/authenticator.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';

/** The options that a page gives the browser. */
function asked<T>(html: string): T {
  const attribute = /data-(?:new-)?passkey="([^"]*)"/.exec(html)?.[1];
  if (attribute === undefined) throw new Error(`the page asks for no passkey: ${html.slice(0, 2_000)}`);
  return JSON.parse(attribute.replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&amp;', '&')) as T;
}

export async function askedAt<T = RequestOptions>(browser: Browser, path = '/'): Promise<T> {
  const answer = await browser.get(path);
  return asked<T>(await answer.text());
}

export const addPath = '/settings/passkeys/add';

/** Makes a passkey on the page for it. */
export async function addPasskey(
  browser: Browser,
  authenticator: Authenticator,
  { name = 'Laptop', odd = {} }: { name?: string; odd?: Oddity } = {},
): Promise<Response> {
  const credential = authenticator.create(await askedAt<CreationOptions>(browser, addPath), odd);
  return browser.post(addPath, { name, credential });
}

/** Signs in by the passkey button of a page. */
export async function signInWith(
  browser: Browser,
  authenticator: Authenticator,
  { odd = {}, remember = '', path = '/' }: { odd?: Oddity; remember?: string; path?: string } = {},
): Promise<Response> {
  const html = await (await browser.get(path)).text();
  const [form = ''] = /<form[^>]*data-passkey=[^>]*>/.exec(html) ?? [];
  const action = / action="([^"]*)"/.exec(form)?.[1]?.replaceAll('&amp;', '&') ?? '';
  return browser.post(action, { credential: authenticator.get(asked(html), odd), remember });
}

/** A user who signed in by password and added a passkey. */
export async function memberWithPasskey(
  foyer: TestFoyer,
  options: ConstructorParameters<typeof Authenticator>[1] = {},
): Promise<{ user: User; browser: Browser; authenticator: Authenticator }> {
  const user = await foyer.addUser();
  const browser = await foyer.signedIn(user);
  const authenticator = new Authenticator(foyer.url, options);
  const answer = await addPasskey(browser, authenticator);
  if (answer.status !== 303) throw new Error(`adding a passkey answered ${answer.status}: ${await answer.text()}`);
  return { user, browser, authenticator };
}

/** The error on a page. */
export async function errorOf(answer: Response): Promise<{ status: number; error: string | undefined }> {
  const html = await answer.text();
  // The notice that a script shows where nothing was sent is hidden.
  const visible = html.replaceAll(/<(\w+)[^>]* hidden=""[^>]*>.*?<\/\1>/gs, '');
  const error = /<div class="notice error" role="alert"(?: id="[^"]*")?>.*?<p>(.*?)<\/p>/s.exec(visible)?.[1];
  return { status: answer.status, error: error?.replaceAll('&#x27;', "'") };
}
