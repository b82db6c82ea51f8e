import { isBuilt } from '../../scripts/build.mjs';
import { Browser, locationOf } from '../support/browser.ts';
import { listenOnFreePort, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { type Example, exampleByCommand, freePort } from './example-process.ts';

/** `npm run example -- NAME`: one command from a Foyer that runs to an app that signs its members in. */
describe('an example by one command', () => {
  let foyer: TestFoyer;
  const running: Example[] = [];
  beforeAll(async () => {
    // The command would build first, which takes longer than a test may.
    if (!isBuilt()) throw new Error('the build is older than its sources: run "npm run build" first');
    foyer = await startFoyer(anyBackend);
  });
  afterEach(async () => {
    for (const example of running.splice(0)) await example.stop();
  });
  afterAll(() => foyer?.close());

  async function start(name: string): Promise<string> {
    const port = await freePort();
    const { dataDir } = foyer.stores.urls;
    running.push(await exampleByCommand(name, { ISSUER: foyer.url, EXAMPLE_PORT: String(port), DATA_DIR: dataDir }));
    return `http://127.0.0.1:${port}`;
  }

  it.each([
    { name: 'express', known: false },
    // From another time, at another address.
    { name: 'passport', known: true },
  ])(
    'The example $name registers itself (known before: $known), signs a user in and signs out of both',
    async ({ name, known }) => {
      if (known) await foyer.addClient({ id: `${name}-example` });
      const url = await start(name);
      const user = await foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
      const [app, browser] = [new Browser(url), foyer.browser()];
      const callback = await signInFor(browser, { url: locationOf(await app.get('/sign-in')) }, user);
      expect(locationOf(await app.get(callback))).toBe(`${url}/`);
      expect(await (await app.get('/')).text()).toContain('Hello, Ida Moreau');
      const out = locationOf(await app.post('/sign-out'));
      expect(locationOf(await browser.get(out, { from: 'cross-site' }))).toBe(`${url}/`);
      expect(await (await app.get('/')).text()).toContain('No one is signed in.');
      expect((await browser.get('/settings')).status).toBe(303);
    },
  );

  it('An exported PORT, which is Foyer’s own, does not move an example, and a port in use is reported in one line', async () => {
    const { server, port } = await listenOnFreePort((_req, res) => res.end());
    const [taken, free] = [String(port), String(await freePort())];
    const variables = { ISSUER: foyer.url, DATA_DIR: foyer.stores.urls.dataDir };
    try {
      const example = await exampleByCommand('browser', { ...variables, PORT: taken, EXAMPLE_PORT: free });
      running.push(example);
      expect(example.said()).toContain(`is ready: http://127.0.0.1:${free}`);
      for (const name of ['browser', 'express', 'passport']) {
        const failed = exampleByCommand(name, { ...variables, EXAMPLE_PORT: taken });
        await expect(failed).rejects.toThrow(/The example cannot listen (at|on) [^\n]*EADDRINUSE[^\n]*\n?$/);
        await expect(failed).rejects.not.toThrow(/\n\s+at |node:net/);
      }
    } finally {
      server.close();
    }
  });

  it('The command reports the list of examples, a Foyer that does not answer and one with other stores', async () => {
    await expect(exampleByCommand('nothing', {})).rejects.toThrow(/Which example\? express, browser, passport, device/);
    const ISSUER = `http://localhost:${await freePort()}`;
    await expect(exampleByCommand('express', { ISSUER })).rejects.toThrow(/No Foyer answers at http:\/\/localhost/);

    // One that answers, and knows nobody of this folder's stores.
    const { server, port } = await listenOnFreePort((req, res) => {
      res.writeHead(req.url?.startsWith('/.well-known/') ? 200 : 404).end('{}');
    });
    try {
      await foyer.addClient({ id: 'browser-example' });
      const variables = { ISSUER: `http://127.0.0.1:${port}`, DATA_DIR: foyer.stores.urls.dataDir };
      await expect(exampleByCommand('browser', variables)).rejects.toThrow(/does not know browser-example/);
    } finally {
      // An open server would keep Jest from ending.
      server.close();
    }
  });
});
