import type { Page } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { listenOnFreePort, password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { submitSignIn } from './steps.ts';

/** A client app of another origin, as libraries sign in by a popup: the callback page posts its address to the opener. */
function pageOf(pathname: string, search: string): string {
  const script =
    pathname === '/callback'
      ? 'if (opener) opener.postMessage(location.search, location.origin); document.title = opener ? "linked" : "alone"'
      : `addEventListener('message', ({ data }) => { document.title = data });
         window.signIn = open(${JSON.stringify(new URLSearchParams(search).get('to'))}, 'sign-in', 'width=500,height=700')`;
  return `<!doctype html><link rel="icon" href="data:,"><title>waits</title><h1>app</h1><script>${script}</script>`;
}

describe('sign-in in a popup of another origin, in Chromium', () => {
  const { newPage } = chromiumForTests();
  let foyer: TestFoyer;
  let app: Awaited<ReturnType<typeof listenOnFreePort>>;
  let client: RelyingParty;
  let origin: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    app = await listenOnFreePort((req, res) => {
      const { pathname, search } = new URL(req.url ?? '/', 'http://127.0.0.1');
      res.setHeader('content-type', 'text/html');
      res.end(pageOf(pathname, search));
    });
    origin = `http://127.0.0.1:${app.port}`;
    client = await relyingParty(foyer, await foyer.addClient({ redirectUris: [`${origin}/callback`] }));
  });
  afterAll(async () => {
    app?.server.close();
    app?.server.closeAllConnections();
    await foyer?.close();
  });

  async function openPopup(parameters: Record<string, string>) {
    const begun = await client.begin(parameters);
    const page = await newPage({ javaScript: true });
    const opened = page.context().waitForEvent('page');
    await page.goto(`${origin}/?${new URLSearchParams({ to: begun.url })}`);
    const popup = await opened;
    await popup.locator('input[name=username]').waitFor();
    return { begun, page, popup };
  }
  const isClosed = (page: Page) => page.evaluate(() => (Reflect.get(window, 'signIn') as { closed: boolean }).closed);

  it('display=popup lets the opener receive the answer and redeem the code', async () => {
    const user = await foyer.addUser();
    const { begun, page, popup } = await openPopup({ display: 'popup' });
    expect(await isClosed(page)).toBe(false);
    await submitSignIn(popup, { email: user.email, password });
    await page.waitForFunction(() => document.title.startsWith('?'));
    const tokens = await client.redeem(`${client.redirectUri}${await page.title()}`, begun);
    expect(tokens.claims()?.sub).toBe(user.id);
  });

  it('display=popup no longer links the window to its opener once it shows the settings', async () => {
    const user = await foyer.addUser();
    const { page, popup } = await openPopup({ display: 'popup' });
    await submitSignIn(popup, { email: user.email, password });
    await page.waitForFunction(() => document.title.startsWith('?'));
    await popup.goto(`${foyer.url}/settings`);
    expect(await popup.evaluate(() => window.opener)).toBeNull();
    await page.waitForFunction(() => (Reflect.get(window, 'signIn') as { closed: boolean }).closed);
  });

  it('Without display=popup the window has no link to its opener, before and after the sign-in', async () => {
    const user = await foyer.addUser();
    const { page, popup } = await openPopup({});
    expect(await isClosed(page)).toBe(true);
    await submitSignIn(popup, { email: user.email, password });
    await popup.waitForURL(`${origin}/callback?**`);
    expect([await popup.title(), await page.title()]).toEqual(['alone', 'waits']);
  });
});
