import type { User } from '../../server/users/index.ts';
import { Browser, locationOf } from '../support/browser.ts';
import { cliOf } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { type ToldApp, toldApp } from '../support/told-app.ts';
import { type Example, freePort, startExample } from './example-process.ts';

/** Back-channel logout as the Express example takes it: the test stands between, so that it can send what it likes. */
describe('back-channel logout of the Express example', () => {
  let foyer: TestFoyer;
  let told: ToldApp;
  let other: ToldApp;
  let example: Example;
  let url: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    url = `http://127.0.0.1:${await freePort()}`;
    [told, other] = [await toldApp(foyer, { redirectUris: [`${url}/callback`] }), await toldApp(foyer)];
    const run = await cliOf(foyer)('client', 'update', told.id, '--new-secret', '--json');
    const { client_secret: secret } = run.json<{ client_secret: string }>();
    const variables = { ISSUER: foyer.url, APP_URL: url, CLIENT_ID: told.id, CLIENT_SECRET: secret };
    example = await startExample('express-app/app.mjs', variables);
  });
  afterAll(async () => {
    await Promise.all([example?.stop(), told?.close(), other?.close()]);
    await foyer?.close();
  });

  async function signIn(user: User) {
    const [app, browser] = [new Browser(url), foyer.browser()];
    await app.get(await signInFor(browser, { url: locationOf(await app.get('/sign-in')) }, user));
    return { app, browser };
  }
  const isIn = async (app: Browser) => !(await (await app.get('/')).text()).includes('No one is signed in.');
  const tell = async (token: string) => {
    const answer = await fetch(`${url}/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    return answer.status;
  };

  it('A valid logout token ends its session alone and once, and every other token is refused', async () => {
    const user = await foyer.addUser();
    const [here, elsewhere] = [await signIn(user), await signIn(user)];
    const atOther = await other.tokens(here.browser, user);
    await here.browser.post('/logout');
    await Promise.all([told.heard(), other.heard()]);
    const token = told.told.at(-1)?.token ?? '';
    const [head = '', body = ''] = token.split('.');
    const unsigned = `${btoa('{"alg":"none","typ":"logout+jwt"}').replaceAll('=', '')}.${body}.`;
    const foreign = other.told.at(-1)?.token ?? '';
    for (const wrong of ['', 'x', `${head}.${body}.${'A'.repeat(86)}`, unsigned, foreign, atOther.id_token ?? ''])
      expect(await tell(wrong)).toBe(400);
    expect(await isIn(here.app)).toBe(true);

    expect(await tell(token)).toBe(200);
    expect(await isIn(here.app)).toBe(false);
    expect(await isIn(elsewhere.app)).toBe(true);
    expect(await tell(token)).toBe(400);
  });
});
