import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as oidc from 'openid-client';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { openForm } from './short-ways.ts';

/** Whether a browser lets the page post itself is the browser's own matter: policy, hash and the redirect behind it. */
describe('form_post in Chromium', () => {
  const { newPage } = chromiumForTests();
  let foyer: TestFoyer;
  let app: Server;
  let appUrl: string;
  let posted: URLSearchParams[];
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    // A client app: takes the post, then leads to a page of its own.
    app = createServer(async (req, res) => {
      if (req.method !== 'POST') return void res.end('<!doctype html><link rel="icon" href="data:,"><h1>home</h1>');
      let body = '';
      for await (const chunk of req) body += chunk;
      posted.push(new URLSearchParams(body));
      res.writeHead(303, { location: '/home' }).end();
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    posted = [];
  });
  afterAll(async () => {
    app?.close();
    await foyer?.close();
  });

  it.each([{ javaScript: true }, { javaScript: false }])(
    'The id token is posted to the client (JavaScript $javaScript)',
    async ({ javaScript }) => {
      const user = await foyer.addUser();
      const registered = await foyer.addClient({ responseTypes: ['id_token'], redirectUris: [`${appUrl}/callback`] });
      const client = await relyingParty(foyer, registered);
      oidc.useIdTokenResponseType(client.config);
      const begun = await client.begin({ response_mode: 'form_post' });
      const page = await newPage({ javaScript });
      await openForm(page, begun.url);
      await page.locator('input[name=username]').fill(user.email);
      await page.locator('input[name=password]').fill(password);
      await page.locator('input[name=password]').press('Enter');
      if (!javaScript) {
        await page.waitForURL(/verify-user/);
        await page.locator('main button[type=submit], main form button').first().click();
        await page.locator('form button').click();
      }
      await page.getByRole('heading', { name: 'home' }).waitFor();
      expect(page.url()).toBe(`${appUrl}/home`);
      expect(posted).toHaveLength(1);
      const answer = new Request(`${appUrl}/callback`, { method: 'POST', body: posted[0] as URLSearchParams });
      const claims = await oidc.implicitAuthentication(client.config, answer, begun.nonce, {
        expectedState: begun.state,
      });
      expect(claims.sub).toBe(user.id);
    },
  );
});
