import type { Page } from 'playwright-core';
import { listenOnFreePort } from '../support/foyer.ts';

/** The pages of a client app, at every path of an address of its own. */
export interface ClientHome {
  /** `http://127.0.0.1:<port>`: another site than Foyer's. */
  origin: string;
  /** A link that the page has from now on. */
  link(href: string): void;
  /** Where `/start` leads: the address at which members begin, as the dashboard opens it; it is told who asks (`iss`). */
  start(by: (iss: string | null) => Promise<string>): void;
  close(): Promise<void>;
}

export async function openClientHome(): Promise<ClientHome> {
  let href = '/';
  let begin: ((iss: string | null) => Promise<string>) | undefined;
  const { server, port } = await listenOnFreePort(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://127.0.0.1');
    if (pathname === '/start' && begin) {
      return void res.writeHead(303, { location: await begin(searchParams.get('iss')) }).end();
    }
    res.setHeader('content-type', 'text/html');
    res.end(
      `<!doctype html><link rel="icon" href="data:,"><h1>home</h1><a href="${href.replaceAll('&', '&amp;')}">go</a>`,
    );
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    link(to) {
      href = to;
    },
    start(by) {
      begin = by;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Waits until the client app's page stands there; answers its address, with what came back. */
export async function homeAddress(page: Page): Promise<string> {
  await page.getByRole('heading', { name: 'home', exact: true }).waitFor();
  return page.url();
}

/** Follows the link of the client app's own page. */
export async function followLink(page: Page, home: ClientHome, href: string): Promise<void> {
  home.link(href);
  await page.goto(home.origin);
  await page.getByRole('link', { name: 'go' }).click();
}
