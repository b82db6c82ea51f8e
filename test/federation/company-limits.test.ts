import { type Browser, locationOf, noticeOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { backends } from '../support/stores.ts';
import { comeBy, pathOf, pressButton, somebody } from './steps.ts';

describe.each(backends)('rate limits of a company on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({
      ...started.environment(),
      GUESS_LIMIT_ADDRESS: '4',
      SIGN_UP_LIMIT_ADDRESS: '3',
      COMPANY_LIMIT_ADDRESS: '8',
    }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  const notice = (to: string) => noticeOf(to);

  it('A provider with domains has limits of its own for attempts and for codes to addresses of its domains', async () => {
    const colleague = () => somebody(providers, 'oidc', { emailVerified: false });
    for (let n = 0; n < 8; n += 1)
      expect(pathOf(foyer, await comeBy(providers, foyer.browser(), 'oidc', colleague()))).toBe('/verify-code');
    const ninth = await foyer.browser().post('/federation/acme-oidc');
    expect(notice(locationOf(ninth))).toBe('federation:too-many');
    // The other providers have a stricter limit of their own.
    for (let n = 0; n < 4; n += 1) await pressButton(foyer.browser(), 'google');
    expect(notice(locationOf(await foyer.browser().post('/federation/google')))).toBe('federation:too-many');
  });

  it('Codes to addresses outside the domains of the provider count toward the general limit', async () => {
    const other = await startFoyer(backend, {
      ...providers.environment(),
      GUESS_LIMIT_ADDRESS: '100',
      SIGN_UP_LIMIT_ADDRESS: '3',
      COMPANY_LIMIT_ADDRESS: '100',
    });
    try {
      const to: (string | null)[] = [];
      for (let n = 0; n < 4; n += 1) {
        const who = somebody(providers, 'oidc', { email: `outside${n}@elsewhere.example` });
        const path = pathOf(other, await comeBy(providers, other.browser(), 'oidc', who));
        to.push(notice(path) ?? path);
      }
      expect(to).toEqual(['/verify-code', '/verify-code', '/verify-code', 'federation:too-many']);
    } finally {
      await other.close();
    }
  });
});

describe.each(backends)('a form of the provider that expired, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, providers.environment());
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });
  /** Answers like Keycloak. */
  async function expire(browser: Browser, address: string, more: Record<string, string> = {}) {
    const { searchParams } = new URL(address);
    const answer = new URL(searchParams.get('redirect_uri') ?? '');
    const said = { error: 'temporarily_unavailable', error_description: 'authentication_expired', ...more };
    const iss = `${providers.url}/acme-oidc`;
    for (const [name, value] of Object.entries({ ...said, state: searchParams.get('state') ?? '', iss }))
      answer.searchParams.set(name, value);
    return locationOf(await browser.get(answer.href, { from: 'cross-site' }));
  }

  it('A provider form that expired is requested again once, with the return address; the second time gives an error', async () => {
    const browser = foyer.browser();
    const first = await pressButton(browser, 'oidc', { search: '?redirect=%2Fsettings&forceAuth=1' });
    const second = await expire(browser, first);
    const [before, now] = [new URL(first), new URL(second)];
    expect(`${now.origin}${now.pathname}`).toBe(`${before.origin}${before.pathname}`);
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect([name, now.searchParams.get(name) === before.searchParams.get(name)]).toEqual([name, false]);
    expect(now.searchParams.get('prompt')).toBe('login');
    const third = new URL(await expire(browser, second));
    expect([third.pathname, noticeOf(third.href), third.searchParams.get('redirect')]).toEqual([
      '/',
      'federation:provider-error',
      '/settings',
    ]);
  });

  it('Any other provider error is not repeated', async () => {
    const browser = foyer.browser();
    const wrongs: Record<string, string>[] = [{ error_description: 'maintenance' }, { error: 'server_error' }];
    for (const wrong of wrongs) {
      const to = await expire(browser, await pressButton(browser, 'oidc'), wrong);
      expect(noticeOf(to)).toBe('federation:provider-error');
    }
  });
});
