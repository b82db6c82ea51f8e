import { comeBy, pressButton, somebody } from '../federation/steps.ts';
import { locationOf } from '../support/browser.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

describe.each(backends)('foyer provider refusals on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let cli: Cli;
  beforeEach(async () => {
    providers = await startProviders();
    const environment = providers.environment();
    foyer = await startFoyer(backend, { ...environment, COMPANY_LIMIT_ADDRESS: '1000' });
    cli = cliOn(foyer.stores.urls, environment);
  });
  afterEach(async () => {
    await foyer?.close();
    await providers?.close();
  });

  type Refusals = { at: number; outcome: string; detail: string }[];
  const list = async (id: string) => (await cli('provider', 'refusals', id, '--json')).json<Refusals>();
  /** A sign-in whose answer has this fault. */
  async function refuse(broken: Parameters<TestProviders['answerAs']>[0]) {
    const browser = foyer.browser();
    const address = await pressButton(browser, 'oidc');
    providers.answerAs(broken, 'oidc');
    return browser.get(locationOf(await sendRequest(address, { redirect: 'manual' })), { from: 'cross-site' });
  }

  it('The operator reads the last refusals of a provider, the newest first, with the reason of the log', async () => {
    await refuse('id-token-expired');
    await waitFor(async () => expect(await list('acme-oidc')).toHaveLength(1));
    await refuse('token-error');
    await waitFor(async () => expect(await list('acme-oidc')).toHaveLength(2));
    const { out } = await cli('provider', 'refusals', 'acme-oidc');
    const [heading, newest, oldest] = out.split('\n');
    expect(heading).toMatch(/^WHEN +OUTCOME +REASON$/);
    expect(newest).toMatch(/^\d{4}-\d{2}-\d{2} \S+ \S+ +invalid +token endpoint: invalid_grant$/);
    expect(oldest).toMatch(/ invalid +OAUTH_JWT_TIMESTAMP_CHECK_FAILED/);
    for (const secret of providers.secrets()) expect(out).not.toContain(secret);
    expect((await cli('provider', 'refusals', 'google')).out).toContain('No sign-in by google has been refused');
  });

  it('Attack: strangers cannot displace the refusals by made-up answers, nor store more than 20', async () => {
    await refuse('token-error');
    await waitFor(async () => expect(await list('acme-oidc')).toHaveLength(1));
    for (let n = 0; n < 25; n += 1) await foyer.browser().get(`/federation/acme-oidc/callback?code=${n}&state=made-up`);
    await refuse('refuse');
    expect(await list('acme-oidc')).toEqual([expect.objectContaining({ detail: 'token endpoint: invalid_grant' })]);
    for (let n = 0; n < 25; n += 1) await refuse('id-token-expired');
    await waitFor(async () => {
      const details = (await list('acme-oidc')).map(({ detail }) => detail);
      expect(details).toHaveLength(20);
      expect(details).not.toContain('token endpoint: invalid_grant');
    });
  });

  it('An unknown provider is not found, and a sign-in leaves no record', async () => {
    expect(await cli('provider', 'refusals', 'nobody')).toMatchObject({ code: 3 });
    await comeBy(providers, foyer.browser(), 'oidc', somebody(providers, 'oidc'));
    expect(await list('acme-oidc')).toEqual([]);
  });
});
