import { createHash } from 'node:crypto';
import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Begun, type RelyingParty, refreshOf, relyingParty, signInFor, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { rawKeys, visible } from '../views/raw-keys.ts';

/** The hidden fields of the page that posts itself to the client app, and the target of the post. */
function formOf(html: string): { action: string; fields: Record<string, string> } {
  const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return {
    action: /<form[^>]* action="([^"]+)"/.exec(html)?.[1] ?? '',
    fields: Object.fromEntries(fields.map(([, name, value]) => [name, (value ?? '').replaceAll('&amp;', '&')])),
  };
}

describe.each(backends)('response_type=id_token on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient({ responseTypes: ['id_token'] }));
    oidc.useIdTokenResponseType(client.config);
  });
  afterAll(() => foyer?.close());

  const check = (answer: URL | Request, { nonce, state }: Begun) =>
    oidc.implicitAuthentication(client.config, answer, nonce, { expectedState: state });

  it('The id token comes in the fragment, which no server on the way sees', async () => {
    const begun = await client.begin();
    const callback = new URL(await signInFor(foyer.browser(), begun, user));
    expect(callback.origin + callback.pathname).toBe(client.redirectUri);
    expect(callback.search).toBe('');
    const given = new URLSearchParams(callback.hash.slice(1));
    expect([...given.keys()].toSorted()).toEqual(['id_token', 'iss', 'state']);
    // RFC 9207, section 2: every answer has iss, also one with an id token.
    expect(given.get('iss')).toBe(foyer.url);
    expect(await check(callback, begun)).toMatchObject({
      sub: user.id,
      aud: client.id,
      nonce: begun.nonce,
      amr: ['pwd'],
      email: user.email,
      auth_time: expect.any(Number),
    });
  });

  it.each(['code', 'code id_token', 'token'])(
    'A client of response_type=id_token is refused response_type=%s',
    async (responseType) => {
      const begun = await client.begin({ response_type: responseType });
      const back = new URL(locationOf(await foyer.browser().get(begun.url)));
      const told = new URLSearchParams(back.search || back.hash.slice(1));
      expect(told.get('error')).toMatch(/^(invalid_request|unsupported_response_type)$/);
    },
  );

  it('A client of response_type=code is refused response_type=id_token', async () => {
    const other = await relyingParty(foyer, await foyer.addClient());
    const begun = await other.begin({ response_type: 'id_token' });
    const back = new URL(locationOf(await foyer.browser().get(begun.url)));
    expect(new URLSearchParams(back.hash.slice(1)).get('error')).toBe('invalid_request');
  });

  it('A request without a nonce is refused with invalid_request', async () => {
    const url = new URL((await client.begin()).url);
    url.searchParams.delete('nonce');
    const back = new URL(locationOf(await foyer.browser().get(url.href)));
    const told = new URLSearchParams(back.hash.slice(1));
    expect(told.get('error')).toBe('invalid_request');
    expect(told.get('error_description')).toMatch(/nonce/);
  });

  it('response_mode=query is refused and returns no id token', async () => {
    const begun = await client.begin({ response_mode: 'query' });
    const back = new URL(locationOf(await foyer.browser().get(begun.url)));
    expect(back.searchParams.get('error')).toBe('invalid_request');
    expect(back.searchParams.has('id_token')).toBe(false);
  });

  describe('response_mode=form_post', () => {
    /** The policy allows the script of the page, the site's icon and the client's origin: no other source and no nonce. */
    function expectPolicyOfThisPageAlone(answer: Response, html: string): void {
      const script = /<script>([^<]*)<\/script>/.exec(html)?.[1] ?? '';
      expect(script).toContain('.submit()');
      const hash = createHash('sha256').update(script).digest('base64');
      expect(answer.headers.get('content-security-policy')).toBe(
        `default-src 'none'; img-src 'self'; style-src 'self'; font-src 'self'; script-src 'sha256-${hash}'; ` +
          `form-action 'self' ${new URL(client.redirectUri).origin}; ` +
          "frame-ancestors 'none'; base-uri 'none'",
      );
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }

    it('The id token is posted by a page whose content security policy allows only its script, the icon and the client', async () => {
      const begun = await client.begin({ response_mode: 'form_post', prompt: 'login' });
      const browser = foyer.browser();
      const landing = new URL(locationOf(await browser.get(begun.url)));
      const fields = { username: user.email, password };
      const verifyUser = locationOf(await browser.post(`/sign-in${landing.search}`, fields));
      const answer = await browser.get(await store(browser, verifyUser));
      const html = await answer.text();
      expect(answer.status).toBe(200);
      expectPolicyOfThisPageAlone(answer, html);
      const form = formOf(html);
      expect(form.action).toBe(client.redirectUri);
      const posted = new Request(form.action, { method: 'POST', body: new URLSearchParams(form.fields) });
      expect(await check(posted, begun)).toMatchObject({ sub: user.id, nonce: begun.nonce });
    });

    it('A signed-in user gets the page that posts the id token at once', async () => {
      const begun = await client.begin({ response_mode: 'form_post' });
      const answer = await (await foyer.signedIn(user)).get(begun.url, { from: 'cross-site' });
      const html = await answer.text();
      expectPolicyOfThisPageAlone(answer, html);
      expect(formOf(html).fields).toEqual({ id_token: expect.any(String), state: begun.state, iss: foyer.url });
    });

    it.each([
      ['en', 'Taking you back to', 'Continue'],
      ['de', 'Zurück zu', 'Weiter'],
      ['fr', 'Retour vers', 'Continuer'],
      ['nl', 'Terug naar', 'Verder'],
    ])(
      'The page that posts is in the language %s, with a heading and a button without script',
      async (lang, title, button) => {
        const begun = await client.begin({ response_mode: 'form_post', ui_locales: lang, state: `"'<&>${lang}` });
        // The one gets an id token, the other an error.
        for (const at of [await foyer.signedIn(user), foyer.browser()]) {
          const html = await (await at.get(`${begun.url}&prompt=none`, { from: 'cross-site' })).text();
          expect(html).toContain(`<html lang="${lang}"`);
          expect(visible(html)).toContain(title);
          expect(html).toMatch(new RegExp(`<button[^>]*type="submit"[^>]*>${button}`));
          expect(html).toContain('name="viewport"');
          expect(rawKeys(html)).toEqual([]);
          expect(html).not.toContain(`"'<&>${lang}`);
          expect(html).toContain(`name="state" value="&quot;&#x27;&lt;&amp;&gt;${lang}"`);
        }
      },
    );

    it('An error is posted to the client in the same way', async () => {
      const begun = await client.begin({ response_mode: 'form_post', prompt: 'none' });
      const answer = await foyer.browser().get(begun.url, { from: 'cross-site' });
      const html = await answer.text();
      expect(answer.status).toBe(400);
      expectPolicyOfThisPageAlone(answer, html);
      expect(formOf(html)).toMatchObject({
        action: client.redirectUri,
        fields: { error: 'login_required', state: begun.state, iss: foyer.url },
      });
    });

    it('A denied consent is posted to the client', async () => {
      const other = await foyer.addClient({ responseTypes: ['id_token'], thirdParty: true });
      const begun = await (await relyingParty(foyer, other)).begin({
        response_type: 'id_token',
        response_mode: 'form_post',
      });
      const browser = await foyer.signedIn(user);
      const consent = new URL(locationOf(await browser.get(begun.url)));
      expect(consent.pathname).toBe('/consent');
      const id = consent.searchParams.get('authorization_code') ?? '';
      const page = await (await browser.post('/consent', { authorization_code: id, decision: 'deny' })).text();
      const answer = await browser.get(refreshOf(page));
      expect(formOf(await answer.text()).fields).toMatchObject({ error: 'access_denied', state: begun.state });
      expect(answer.headers.get('content-security-policy')).toMatch(/form-action 'self' http:\/\/127\.0\.0\.1:9;/);
    });

    it('A code is posted to the client', async () => {
      const coded = await relyingParty(foyer, await foyer.addClient());
      const begun = await coded.begin({ response_mode: 'form_post' });
      const answer = await (await foyer.signedIn(user)).get(begun.url, { from: 'cross-site' });
      const { action, fields } = formOf(await answer.text());
      const callback = `${action}?${new URLSearchParams(fields)}`;
      expect((await coded.redeem(callback, begun)).claims()?.sub).toBe(user.id);
    });

    it('Attack: a redirect address that is not registered gets 400, not a form', async () => {
      const begun = await client.begin({ response_mode: 'form_post', redirect_uri: 'https://evil.example/' });
      const answer = await (await foyer.signedIn(user)).get(begun.url, { from: 'cross-site' });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-security-policy')).not.toContain('evil.example');
      expect(await answer.text()).not.toContain('evil.example');
    });

    it('The content security policy of all other answers stays strict', async () => {
      const begun = await client.begin({ response_mode: 'form_post' });
      const browser = foyer.browser();
      for (const path of [begun.url, '/oauth2/jwks', '/oauth2/userInfo', '/']) {
        const policy = (await browser.get(path)).headers.get('content-security-policy');
        expect(policy).not.toContain('sha256');
        expect(policy).not.toContain('127.0.0.1');
      }
    });
  });
});
