import { standardKinds, standardProviders } from '../../config/standard-providers.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { idsOnPages } from '../support/provider-kinds.ts';
import type { TestProviders } from '../support/providers.ts';
import { anyBackend } from '../support/stores.ts';
import {
  comeBy,
  inInstagram,
  type ProviderSetup,
  page,
  plain,
  press,
  startWithProviders,
  ways,
} from './provider-steps.ts';

let setup: ProviderSetup;
let foyer: TestFoyer;
let providers: TestProviders;
beforeAll(async () => {
  setup = await startWithProviders();
  ({ foyer, providers } = setup);
});
afterAll(() => setup?.close());

const mainIds = ['amazon', 'google', 'facebook'];

describe('the sign-in page', () => {
  it('Amazon, Google and Facebook are above the form and the others in a closed list below it', async () => {
    const { html } = await page(foyer, '/');
    expect(ways(html)).toEqual(idsOnPages.map((id) => `/federation/${id}`));
    const order = [
      '/federation/google',
      '/federation/facebook',
      'name="password"',
      '<details',
      '/federation/acme-oidc',
    ];
    const places = order.map((what) => html.indexOf(what));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(html).toMatch(/<details class="more-provider-buttons">/);
    const others = idsOnPages.length - mainIds.length;
    expect(plain(html)).toContain(`Other ways to continue ${others} more Show fewer`);
    // Above the fields alone: what opens the list needs no line of its own.
    expect(html.match(/class="or"/g)).toHaveLength(1);
    expect(html).toMatch(/<summary>.*?<svg class="icon".*?<\/summary>/);
  });

  it('The first submit button of the form is the form’s own, so Enter never presses a provider’s button', async () => {
    const { html } = await page(foyer, '/');
    const [first] = html.match(/<button [^>]*form="sign-in"[^>]*>/) ?? [];
    expect(first).toContain('type="submit"');
    expect(first).not.toMatch(/formaction/i);
    expect(first).toMatch(/tabindex="-1"/i);
  });

  it('Every provider button has the visitor’s return address', async () => {
    const { html } = await page(foyer, '/?redirect=%2Fsettings&state=x');
    expect(ways(html)).toHaveLength(idsOnPages.length);
    for (const way of ways(html)) expect(way).toMatch(/\?state=x&redirect=%2Fsettings$/);
  });

  it('An embedded browser gets an explanation in place of the providers that do not work there', async () => {
    const { html } = await page(foyer, '/', { 'user-agent': inInstagram });
    const refusing = standardKinds.filter((kind) => standardProviders[kind].refusesEmbeddedBrowsers);
    const usable = idsOnPages.filter((id) => !refusing.some((kind) => kind === id));
    expect(ways(html)).toEqual(usable.map((id) => `/federation/${id}`));
    expect(plain(html)).toContain('Signing in with Google or Facebook doesn’t work inside another app.');
    expect(plain(html)).toContain(`open ${new URL(foyer.url).host} in your browser`);
    expect(/<details class="more-provider-buttons" open/.test(html)).toBe(usable.length <= 3);
  });

  it('The logo of a provider is served as immutable with a policy that runs no script', async () => {
    const { html } = await page(foyer, '/');
    const [, src = ''] = html.match(/<img src="(\/federation\/acme-oidc\/logo[^"]+)" alt=""/) ?? [];
    const logo = await foyer.browser().get(src.replaceAll('&amp;', '&'));
    expect(logo.headers.get('content-type')).toBe('image/svg+xml');
    expect(logo.headers.get('cache-control')).toContain('immutable');
    expect(logo.headers.get('content-security-policy')).toMatch(/default-src 'none'.*sandbox/);
    expect(await logo.text()).toContain('<svg');
    expect((await foyer.browser().get('/federation/google/logo')).status).toBe(404);
  });
});

describe('the sign-up page', () => {
  it('Only providers with sign-up have a button, and no field of the form is sent with it', async () => {
    const { html } = await page(foyer, '/signup');
    const withSignUp = idsOnPages.filter((id) => id !== 'amazon');
    expect(ways(html)).toEqual(withSignUp.map((id) => `/federation/${id}`));
    expect(html.match(/form="provider-buttons"/g)).toHaveLength(withSignUp.length);
    expect(html).toContain('<form id="provider-buttons" hidden="" method="post">');
  });
});

describe('the sign-up page of a plan', () => {
  it('Every provider button has the plan', async () => {
    const { html } = await page(foyer, '/signup/plan/scale-monthly?redirect=%2Fsettings');
    expect(ways(html)[0]).toBe('/federation/google?redirect=%2Fsettings&planHash=scale-monthly');
  });
});

describe('a provider’s button', () => {
  it('The button leads to the provider with the entered address and needs no password', async () => {
    const browser = foyer.browser();
    const asked = await press(browser, '/federation/google', {
      username: ' Vera@Example.com ',
      password: 'not looked at',
    });
    expect(asked.origin).toBe(providers.url);
    expect(asked.searchParams.get('login_hint')).toBe('vera@example.com');
    expect(asked.searchParams.get('state')).toMatch(/^[\w-]{43}$/);
    expect(Object.keys(await browser.cookies())).toEqual(
      expect.arrayContaining([expect.stringMatching(/foyer_federation$/)]),
    );
  });

  it('A phone number is not sent to the provider', async () => {
    const asked = await press(foyer.browser(), '/federation/google', { username: '+32 470 12 34 56' });
    expect(asked.searchParams.has('login_hint')).toBe(false);
  });

  it('A fresh sign-in is requested with forceAuth or when the user is signed in already', async () => {
    const how = async (browser: Browser, path: string) => (await press(browser, path)).searchParams.get('prompt');
    expect(await how(foyer.browser(), '/federation/acme-oidc')).toBeNull();
    expect(await how(foyer.browser(), '/federation/acme-oidc?forceAuth=1')).toBe('login');
    const member = await foyer.signedIn(await foyer.addUser());
    expect(await how(member, '/federation/acme-oidc')).toBe('login');
  });

  it('The sign-in is remembered if Remember Me was checked', async () => {
    const lifetimes: (number | undefined)[] = [];
    for (const fields of [{ remember: '1' }, {}] as Record<string, string>[]) {
      const browser = foyer.browser();
      providers.answerAs(providers.people.google.ada, 'google');
      expect((await comeBy(browser, '/federation/google', fields)).status).toBe(303);
      const cookies = await browser.jar.getCookies(foyer.url);
      const session = cookies.find(({ key }) => key.endsWith('foyer_session'));
      lifetimes.push(session?.expires instanceof Date ? session.expires.getTime() : undefined);
    }
    expect(lifetimes).toEqual([expect.any(Number), undefined]);
  });

  it('A provider that is not configured gets 404', async () => {
    expect((await foyer.browser().post('/federation/okta')).status).toBe(404);
    expect((await foyer.browser().get('/federation/google')).status).toBe(405);
  });

  it('Too many attempts lead back to the page with a clear message', async () => {
    const busy = await startFoyer(anyBackend, { ...providers.environment(), GUESS_LIMIT_ADDRESS: '1' });
    try {
      const browser = busy.browser();
      await press(browser, '/federation/google?redirect=%2Fsettings');
      const refused = await browser.post('/federation/google?redirect=%2Fsettings');
      const back = refused.headers.get('location') ?? '';
      expect(back).toBe('/?redirect=%2Fsettings#federation:too-many/google');
      expect(plain(await (await browser.get(back)).text())).toContain('Too many attempts with Google.');
    } finally {
      await busy.close();
    }
  });
});
