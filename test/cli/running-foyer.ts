import { type Cli, cliOf } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import type { Backend } from '../support/stores.ts';

export const redirectUri = 'http://127.0.0.1:9/cli/callback';
/** How often the Foyer reads its keys again. */
export const refreshSeconds = 1;

/** Starts a Foyer for the tests of a file; the commands act on it without a restart. */
export function prepareRunningFoyer(backend: Backend) {
  let running: TestFoyer;
  let cli: Cli;
  beforeAll(async () => {
    running = await startFoyer(backend, { KEYS_REFRESH_SECONDS: String(refreshSeconds) });
    cli = cliOf(running);
  });
  afterAll(() => running?.close());

  /** Registers a client by the command; answers it as its developers have it. */
  async function register(id: string, ...options: string[]): Promise<{ client: RelyingParty; secret: string }> {
    const run = await cli(
      'client',
      'add',
      '--id',
      id,
      '--name',
      id,
      '--redirect-uri',
      redirectUri,
      '--json',
      ...options,
    );
    const { client_secret: secret = '' } = run.json<{ client_secret?: string }>();
    return { client: await relyingParty(running, { id, secret: secret || null, redirectUri }), secret };
  }

  async function tokensOf(
    client: RelyingParty,
    user: Awaited<ReturnType<TestFoyer['addUser']>>,
    browser = running.browser(),
  ) {
    const begun = await client.begin();
    return client.redeem(await signInFor(browser, begun, user), begun);
  }

  const userinfoStatus = async (token: string) =>
    (await sendRequest(`${running.url}/oauth2/userInfo`, { headers: { authorization: `Bearer ${token}` } })).status;

  /** The address of a page that only members see leads to the sign-in form once the session has ended. */
  const isSignedIn = async (browser: ReturnType<TestFoyer['browser']>) => (await browser.get('/')).status === 303;

  return {
    running: () => running,
    foyer: (...argv: string[]) => cli(...argv),
    register,
    tokensOf,
    userinfoStatus,
    isSignedIn,
  };
}
