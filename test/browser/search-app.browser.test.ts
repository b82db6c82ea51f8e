import type { Server } from 'node:http';
import { chromiumForTests } from '../support/chromium.ts';
import { listenOnFreePort, password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toPlanId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import { submitSignIn } from './steps.ts';

/** As in production: the marketplace's search app is another site, and a form leads there through redirects. */
describe('a search app on another site', () => {
  const { newPage } = chromiumForTests();
  let foyer: TestFoyer;
  let search: { server: Server; port: number };
  beforeAll(async () => {
    search = await listenOnFreePort((_req, res) => {
      res.setHeader('content-type', 'text/html');
      res.end('<!doctype html><title>Search</title><h1>Search</h1><link rel="icon" href="data:,">');
    });
    foyer = await startFoyer(anyBackend, {
      SANDBOX: 'false',
      SEARCH_APP_URL: `http://127.0.0.1:${search.port}/search?tab=all`,
    });
  });
  afterAll(async () => {
    await foyer?.close();
    search?.server.closeAllConnections();
    search?.server.close();
  });

  it.each([true, false])(
    'A user without a waiting client is redirected to the search app after the sign-in (JavaScript: %s)',
    async (javaScript) => {
      const { email } = await foyer.addUser({ planId: toPlanId('1') });
      const page = await newPage({ javaScript });
      await page.goto(foyer.url);
      await submitSignIn(page, { email, password });
      await page.waitForURL(`http://127.0.0.1:${search.port}/search?tab=all`);
    },
  );
});
