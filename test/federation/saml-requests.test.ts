import { parseSamlMessage, readPosted, readRedirect } from '../../sandbox/providers/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type ProvidersJson, startProviders, type TestProviders } from '../support/providers.ts';
import { answerXml, arrive, federationLog, goingOnTo } from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { newcomer } from './saml-steps.ts';

const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

describe.each([anyBackend])('requests to a SAML provider', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    const withMore = (file: ProvidersJson): ProvidersJson => {
      const [oidc = {}, saml = {}] = file.providers;
      const more = (id: string, change: object) => ({ ...saml, id, entityId: id, domains: [], ...change });
      return {
        ...file,
        providers: [
          oidc,
          saml,
          more('by-form', { requestBinding: 'post', loginHint: 'subject' }),
          more('signed-form', { requestBinding: 'post', signRequests: true, loginHint: 'subject' }),
          more('subject', { loginHint: 'subject', signRequests: true }),
          more('silent', { loginHint: 'never' }),
        ],
      };
    };
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '100000', ...providers.environment(withMore) });
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const hinted = { username: "o'hara+x&y@acme.example" };
  const begin = async (provider: string, { browser = foyer.browser(), search = '', fields = {} } = {}) => ({
    browser,
    url: await goingOnTo(await browser.post(`/federation/${provider}${search}`, fields)),
  });
  const unescaped = (text: string) =>
    text
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&#x27;', "'")
      .replaceAll('&amp;', '&');
  /** The form of the page that posts a request. */
  async function formAt(browser: Browser, url: URL) {
    const page = await browser.get(url.pathname + url.search);
    const html = await page.text();
    const [, action = ''] = /<form class="waiting" action="([^"]*)" method="post">/.exec(html) ?? [];
    const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g);
    const fields = Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, unescaped(value)]));
    return { page, html, action: unescaped(action), fields };
  }

  it.each(['by-form', 'signed-form'])(
    'A request by form leads to the provider and back, and is signed where requests are: %s',
    async (provider) => {
      const { browser, url } = await begin(provider);
      expect(url.origin).toBe(foyer.url);
      const { action, fields } = await formAt(browser, url);
      expect(action).toBe(`${providers.url}/acme-saml/sso`);
      const posted = readPosted(fields);
      const message = parseSamlMessage(posted?.xml ?? '');
      expect(message).toMatchObject({ name: 'AuthnRequest', destination: action, forceAuthn: false });
      expect(posted?.signed).toBe(provider === 'signed-form');
      expect(posted?.isSignedBy(providers.serviceProvider.certificate)).toBe(provider === 'signed-form');
      expect(posted?.isSignedBy(providers.otherSigner().certificate)).toBe(false);
      // The stand-in verifies it, too.
      const who = newcomer();
      providers.answerAs({ person: providers.people.saml.ada, saml: { ...who, issuer: provider } }, 'saml');
      const answered = await sendRequest(action, { method: 'POST', body: new URLSearchParams(fields) });
      const text = await answered.text();
      const [, response = ''] = /name="SAMLResponse" value="([^"]+)"/.exec(text) ?? [];
      const request = { id: message?.id ?? '', acsUrl: message?.acsUrl ?? '', app: message?.issuer ?? '' };
      const relayState = posted?.relayState ?? '';
      const xml = Buffer.from(response, 'base64').toString('utf8');
      expect(await arrive(foyer, { browser, url, relayState, request }, xml)).not.toContain('notice');
      expect(federationLog(foyer).at(-1)).toMatchObject({ provider, outcome: expect.not.stringContaining('invalid') });
    },
  );

  it('The page of a request submits itself, has a button without JavaScript, and may post to the provider alone', async () => {
    const { browser, url } = await begin('by-form');
    const { page, html } = await formAt(browser, url);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(page.status).toBe(200);
    expect(policy).toMatch(new RegExp(`form-action 'self'[^;]* ${providers.url}(;|$)`));
    const [, nonce = ''] = /script-src 'nonce-([^']+)'/.exec(policy) ?? [];
    expect(html).toContain(`<script nonce="${nonce}">document.currentScript.previousElementSibling.submit()</script>`);
    expect(html).toMatch(/<button[^>]*type="submit"[^>]*>/);
    expect(page.headers.get('cache-control')).toContain('no-store');
  });

  it('Attack: the page of a request opens only in the browser of its attempt, for its provider, and while it is open', async () => {
    const { browser, url } = await begin('by-form');
    const refused = async (who: Browser, address: string) => {
      const answer = await who.get(address);
      expect([answer.status, locationOf(answer)]).toEqual([303, expect.stringContaining('federation:over')]);
      expect(await answer.text()).not.toContain('SAMLRequest');
    };
    await refused(foyer.browser(), url.pathname + url.search);
    await refused(browser, `/federation/signed-form/request${url.search}`);
    await refused(browser, `${url.pathname}?attempt=unknown`);
    await refused(browser, url.pathname);
    expect((await browser.get(`/federation/acme-saml/request${url.search}`)).status).toBe(404);
    const { fields } = await formAt(browser, url);
    const message = parseSamlMessage(readPosted(fields)?.xml ?? '');
    const request = { id: message?.id ?? '', acsUrl: message?.acsUrl ?? '', app: message?.issuer ?? '' };
    const attempt = { browser, url, relayState: fields.RelayState ?? '', request };
    await arrive(foyer, attempt, await answerXml(providers, attempt, { ...newcomer(), issuer: 'by-form' }));
    await refused(browser, url.pathname + url.search);
  });

  it('A request by form asks again where a fresh sign-in is wanted', async () => {
    const { browser, url } = await begin('by-form', { search: '?forceAuth=1' });
    const { fields } = await formAt(browser, url);
    expect(parseSamlMessage(readPosted(fields)?.xml ?? '')?.forceAuthn).toBe(true);
  });

  it('A typed address goes into the Subject of a request by redirect or form where the entry says so', async () => {
    const redirected = await begin('subject', { fields: hinted });
    const read = readRedirect(redirected.url.search);
    expect(parseSamlMessage(read?.xml ?? '')?.nameId).toBe(hinted.username);
    expect(read?.isSignedBy(providers.serviceProvider.certificate)).toBe(true);
    expect(redirected.url.searchParams.has('login_hint')).toBe(false);
    for (const provider of ['by-form', 'signed-form']) {
      const { browser, url } = await begin(provider, { fields: hinted });
      const posted = readPosted((await formAt(browser, url)).fields);
      expect(parseSamlMessage(posted?.xml ?? '')?.nameId).toBe(hinted.username);
      expect(posted?.isSignedBy(providers.serviceProvider.certificate)).toBe(provider === 'signed-form');
    }
    const unhinted = readRedirect((await begin('subject')).url.search);
    expect(unhinted?.xml).not.toContain('Subject');
  });

  it('A typed address goes nowhere where the entry says never', async () => {
    const { url } = await begin('silent', { fields: hinted });
    expect(url.searchParams.has('login_hint')).toBe(false);
    expect(readRedirect(url.search)?.xml).not.toContain('Subject');
  });

  it('A request asks for a persistent NameID', async () => {
    const { url } = await begin('acme-saml');
    expect(readRedirect(url.search)?.xml).toContain(`Format="${persistent}"`);
  });
});
