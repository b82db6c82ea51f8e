import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';

const bye = 'http://127.0.0.1:9/bye';

/** Requirements of OpenID Connect RP-Initiated Logout 1.0 in docs/conformance.md that no other test shows. */
describe('RP-Initiated Logout', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: RelyingParty;
  let idToken: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser();
  });
  beforeEach(async () => {
    browser = await foyer.signedIn(user);
    client = await relyingParty(foyer, await foyer.addClient({ logoutUris: [bye] }));
    idToken = (await tokensFor(client, browser, user)).id_token ?? '';
  });
  afterAll(() => foyer?.close());

  const endSession = (parameters: Record<string, string>) =>
    browser.get(`/oauth2/logout?${new URLSearchParams(parameters)}`, { from: 'cross-site' });
  const signedIn = async () => (await browser.get('/settings')).status === 200;

  it('A client_id that is not the audience of the hint is refused (section 2)', async () => {
    const other = await relyingParty(foyer, await foyer.addClient({ logoutUris: [bye] }));
    for (const more of [{}, { post_logout_redirect_uri: bye }] as Record<string, string>[]) {
      const answer = await endSession({ id_token_hint: idToken, client_id: other.id, ...more });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    }
    expect(await signedIn()).toBe(true);
  });

  it('A client_id that is the audience of the hint is accepted (section 2)', async () => {
    const answer = await endSession({ id_token_hint: idToken, client_id: client.id, post_logout_redirect_uri: bye });
    expect(locationOf(answer)).toBe(bye);
    expect(await signedIn()).toBe(false);
  });

  it('An expired hint of a live session is accepted (section 2)', async () => {
    foyer.passTime(2 * 60 * 60 * 1000);
    await browser.get('/settings');
    const answer = await endSession({ id_token_hint: idToken, post_logout_redirect_uri: bye });
    foyer.passTime(-2 * 60 * 60 * 1000);
    expect(locationOf(answer)).toBe(bye);
  });

  it('logout_hint, ui_locales and unknown parameters are ignored, and no state is added (section 2)', async () => {
    const hints = { logout_hint: user.email ?? '', ui_locales: 'fr', unheard_of: 'x' };
    const answer = await endSession({ id_token_hint: idToken, post_logout_redirect_uri: bye, ...hints });
    expect(locationOf(answer)).toBe(bye);
  });

  it('A logout address of another client is refused (section 3)', async () => {
    await foyer.addClient({ logoutUris: ['http://127.0.0.1:9/elsewhere'] });
    const answer = await endSession({
      id_token_hint: idToken,
      post_logout_redirect_uri: 'http://127.0.0.1:9/elsewhere',
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(await signedIn()).toBe(true);
  });

  it('The end_session_endpoint is in the metadata, where openid-client finds it (section 2.1)', () => {
    const url = oidc.buildEndSessionUrl(client.config, { id_token_hint: idToken });
    expect(url.origin + url.pathname).toBe(`${foyer.url}/oauth2/logout`);
  });
});
