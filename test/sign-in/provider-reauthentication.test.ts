import type { TestFoyer } from '../support/foyer.ts';
import type { TestProviders } from '../support/providers.ts';
import { comeBack, comeBy, type ProviderSetup, plain, press, startWithProviders, ways } from './provider-steps.ts';

let setup: ProviderSetup;
let foyer: TestFoyer;
let providers: TestProviders;
beforeAll(async () => {
  setup = await startWithProviders();
  ({ foyer, providers } = setup);
});
afterAll(() => setup?.close());

describe('reauthentication', () => {
  it('A user without a password authenticates again with a linked provider, but not with another account', async () => {
    const { vera } = providers.people.google;
    const lotte = { ...vera, givenName: 'Lotte', email: 'lotte@example.com' };
    const browser = foyer.browser();
    providers.answerAs(lotte, 'google');
    await comeBy(browser, '/federation/google');
    const html = await (await browser.get('/re-authenticate?redirect=%2Fsettings')).text();
    expect(html).not.toContain('name="password"');
    expect(plain(html)).toContain('Your account has no password.');
    expect(ways(html)).toEqual(['/re-authenticate/provider/google?redirect=%2Fsettings']);

    const asked = await press(browser, ways(html)[0] ?? '');
    expect(asked.searchParams.get('login_hint')).toBe(lotte.email);
    providers.answerAs(vera, 'google');
    const back = (await comeBack(browser, asked)).headers.get('location') ?? '';
    expect(back).toBe('/re-authenticate?redirect=%2Fsettings#federation:not-yours/google');
    const said = plain(await (await browser.get(back)).text());
    expect(said).toContain('That Google account isn’t linked to your account.');

    const before = await browser.cookies();
    providers.answerAs(lotte, 'google');
    const again = await comeBy(browser, ways(html)[0] ?? '');
    expect(again.headers.get('location')).not.toContain('notice');
    expect(await browser.cookies()).not.toEqual(before);
  });

  it('A provider that is not linked, or a visitor without a session, cannot authenticate again', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const html = await (await browser.get('/re-authenticate')).text();
    expect([html.includes('name="password"'), ways(html)]).toEqual([true, []]);
    expect((await browser.post('/re-authenticate/provider/google')).status).toBe(404);
    const stranger = await foyer.browser().post('/re-authenticate/provider/google');
    expect(stranger.headers.get('location')).toMatch(/^\/\?/);
  });
});
