import { isSignedIn } from '../federation/saml-steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { federationLog, goingOnTo } from '../support/saml.ts';
import { asksThere, pysaml2, readForm, type SamlCompany, startSamlCompanies } from './saml-products.ts';

const format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:';
const email = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const more = 'http://www.w3.org/2001/04/xmldsig-more#rsa-';
/** The library signs with SHA-1 by itself. */
const sha256 = { signing_algorithm: `${more}sha256`, digest_algorithm: 'http://www.w3.org/2001/04/xmlenc#sha256' };
const sha512 = { signing_algorithm: `${more}sha512`, digest_algorithm: 'http://www.w3.org/2001/04/xmlenc#sha512' };
const signs = { ...sha256, sign_assertion: true };
const usual = { idp: signs };
const sealing = { idp: { ...signs, encrypt_assertion: true } };
const sealed = { encryptedAssertions: true };
const cipher = (algorithm: string, key: string) => ({
  hosted: { ...sealing, cipher: { algorithm, key } },
  entry: sealed,
});
const wanting = { idp: { ...signs, want_authn_requests_signed: true } };

const works = {
  assertion: { hosted: usual },
  both: { hosted: { idp: { ...signs, sign_response: true } } },
  sha512: { hosted: { idp: { ...sha512, sign_assertion: true } } },
  basic: {
    hosted: {
      idp: {
        ...signs,
        policy: { default: { name_form: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic' } },
      },
    },
  },
  gcm256: cipher('http://www.w3.org/2009/xmlenc11#aes256-gcm', 'aes-256'),
  gcm128: cipher('http://www.w3.org/2009/xmlenc11#aes128-gcm', 'aes-128'),
  cbc256: cipher('http://www.w3.org/2001/04/xmlenc#aes256-cbc', 'aes-256'),
  transient: {
    hosted: { ...usual, name_id_format: `${format}transient` },
    // The library sends attributes under the names of its tables.
    entry: { nameIdFormat: `${format}transient`, subject: 'urn:oid:2.16.840.1.113730.3.1.3' },
  },
  email: {
    hosted: { idp: { ...signs, domain: 'email.example' }, name_id_format: email },
    entry: { nameIdFormat: email },
  },
  post: { hosted: usual, entry: { requestBinding: 'post' } },
  signed: { hosted: { ...usual, wants_redirect_signature: true }, entry: { signRequests: true } },
  'signed-post': { hosted: wanting, entry: { requestBinding: 'post', signRequests: true } },
  /** The setting is left out, so the running server follows the metadata. */
  wished: { hosted: wanting, entry: { requestBinding: 'post', signRequests: undefined } },
  'logout-by-post': { hosted: { ...usual, logout_by_post: true } },
  open: { hosted: usual, entry: { idpInitiated: true } },
} as const satisfies Record<string, SamlCompany>;

const refused = {
  template: {},
  response: { hosted: { idp: { ...sha256, sign_assertion: false, sign_response: true } } },
  sha1: { hosted: { idp: { sign_assertion: true } } },
  'triple-des': { hosted: sealing, entry: sealed },
  unsealed: { hosted: usual, entry: sealed },
} as const satisfies Record<string, SamlCompany>;

type Id = keyof typeof works | keyof typeof refused;
const idsThatWork = Object.keys(works) as (keyof typeof works)[];

describe('sign-in by pysaml2, which signs, encrypts and verifies by xmlsec1', () => {
  let companies: Awaited<ReturnType<typeof startSamlCompanies<Id>>>;
  beforeAll(async () => {
    companies = await startSamlCompanies<Id>(pysaml2, { ...works, ...refused });
  }, 180_000);
  afterAll(() => companies?.close());
  const outcome = () => federationLog(companies.foyer).at(-1);
  const start = async (id: Id) => {
    const browser = companies.foyer.browser();
    expect(await companies.signIn(id, browser)).not.toContain('federation-');
    return browser;
  };

  it.each(idsThatWork)('A person signs up by pysaml2 as it is set up in %s, and signs in again', async (id) => {
    expect(await companies.signIn(id)).not.toContain('#');
    expect(outcome()).toMatchObject({ provider: id, outcome: 'created' });
    const again = await start(id);
    expect(outcome()).toMatchObject({ provider: id, outcome: 'signed-in' });
    expect(await isSignedIn(again)).toBe(true);
  });

  it.each<[keyof typeof refused, RegExp]>([
    ['template', /not signed/],
    ['response', /not signed/],
    ['sha1', /that is not accepted/],
    ['triple-des', /^the assertion is encrypted in a way that is not accepted$/],
    ['unsealed', /encrypted/],
  ])('A sign-in by pysaml2 as it is set up in %s is refused, and the log says why', async (id, detail) => {
    expect(await companies.signIn(id)).toContain('#federation:');
    expect(outcome()).toMatchObject({ provider: id, detail: expect.stringMatching(detail) });
  });

  it('The library pysaml2 verifies the signature of a request in the address, and refuses one that was changed', async () => {
    const browser = companies.foyer.browser();
    const url = await goingOnTo(await browser.post('/federation/signed'));
    const open = async () => companies.follow(browser, await browser.get(url.href), url.href);
    expect(asksThere(await open())).toBe(true);
    url.searchParams.set('RelayState', 'another');
    expect(asksThere(await open())).toBe(false);
    url.searchParams.delete('Signature');
    expect(asksThere(await open())).toBe(false);
  });

  it.each(['signed-post', 'wished'] as const)(
    'The program xmlsec1 verifies the signature within a posted request of %s, and refuses it changed or unsigned',
    async (id) => {
      const browser = companies.foyer.browser();
      const url = await goingOnTo(await browser.post(`/federation/${id}`));
      const { action, fields } = readForm(await (await browser.get(url.href)).text());
      const xml = Buffer.from(fields.SAMLRequest ?? '', 'base64').toString();
      const post = async (text: string) => {
        const SAMLRequest = Buffer.from(text).toString('base64');
        const headers = { origin: companies.foyer.url, 'sec-fetch-site': 'cross-site' };
        const answer = await browser.post(action, { ...fields, SAMLRequest }, headers);
        return companies.follow(browser, answer, action);
      };
      expect(asksThere(await post(xml))).toBe(true);
      const changed = xml.replace(/ ID="_/, ' ForceAuthn="true" ID="_');
      expect(changed).not.toBe(xml);
      expect(asksThere(await post(changed))).toBe(false);
      const unsigned = xml.replace(/<(\w+:)?Signature .*<\/\1Signature>/s, '');
      expect(unsigned).not.toBe(xml);
      expect(asksThere(await post(unsigned))).toBe(false);
    },
  );

  it('The library pysaml2 asks again where Foyer wants a fresh sign-in, and its answer counts as fresh', async () => {
    const browser = await start('assertion');
    // The session there stays.
    browser.jar.store.removeCookies('localhost', null);
    expect(asksThere(await companies.press('assertion', browser))).toBe(false);
    const page = await companies.press('assertion', browser, '?forceAuth=1');
    expect(asksThere(page)).toBe(true);
    const { html } = await companies.signInThere(browser, page);
    expect(await companies.deliver(browser, html)).not.toContain('#');
  });

  /** Goes on between Foyer and pysaml2 until neither redirects to the other. */
  async function goOn(browser: Browser, address: string): Promise<string> {
    let at = address;
    for (let hops = 0; hops < 10; hops += 1) {
      const page = await companies.follow(browser, await browser.get(at, { from: 'cross-site' }), at);
      if (page.html !== '' || !new URL(page.address).pathname.startsWith('/federation/')) return page.address;
      at = page.address;
    }
    return at;
  }

  it.each(['assertion', 'both', 'gcm256', 'transient'] as const)(
    'Signing out of Foyer also signs out at pysaml2, which verifies the request (%s)',
    async (id) => {
      const browser = await start(id);
      const to = await goingOnTo(await browser.post('/logout'));
      expect(to.origin).toBe(companies.serverAt(id).url);
      expect(await goOn(browser, to.href)).toContain(companies.foyer.url);
      expect(await isSignedIn(browser)).toBe(false);
      expect(asksThere(await companies.press(id, browser))).toBe(true);
    },
  );

  const signOutThere = (id: Id) => {
    const { url } = companies.serverAt(id);
    return { url, address: `${url}/sign-out?${new URLSearchParams({ ReturnTo: `${url}/metadata` })}` };
  };

  it.each(['assertion', 'gcm256', 'transient'] as const)(
    'Signing out at pysaml2 also signs out of Foyer, whose answer pysaml2 verifies (%s)',
    async (id) => {
      const browser = await start(id);
      const { url, address } = signOutThere(id);
      expect(await goOn(browser, address)).toBe(`${url}/metadata`);
      expect(outcome()).toMatchObject({ provider: id, outcome: 'signed-out-there', count: 1 });
      expect(await isSignedIn(browser)).toBe(false);
    },
  );

  it('A posted logout request with a signature of xmlsec1 within it ends the session, and a changed one does not', async () => {
    const browser = await start('logout-by-post');
    const { url, address } = signOutThere('logout-by-post');
    const { action, fields } = readForm(await (await browser.get(address)).text());
    const xml = Buffer.from(fields.SAMLRequest ?? '', 'base64').toString();
    const post = (text: string) => {
      const SAMLRequest = Buffer.from(text).toString('base64');
      const headers = { origin: url, 'sec-fetch-site': 'cross-site' };
      return browser.submit(new URL(action).pathname, { ...fields, SAMLRequest }, headers);
    };
    await post(xml.replace(/(SessionIndex>)[^<]+/, '$1another'));
    expect(outcome()).toMatchObject({ outcome: 'logout-refused' });
    expect(await isSignedIn(browser)).toBe(true);
    expect(await goOn(browser, locationOf(await post(xml)))).toBe(`${url}/metadata`);
    expect(outcome()).toMatchObject({ outcome: 'signed-out-there', count: 1 });
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('A sign-in that begins at pysaml2 is refused by default, and asks first where the entry allows it', async () => {
    const unasked = async (id: Id) => {
      const browser = companies.foyer.browser();
      const url = `${companies.serverAt(id).url}/unasked`;
      const { html } = await companies.signInThere(
        browser,
        await companies.follow(browser, await browser.get(url), url),
      );
      const { action, fields } = readForm(html);
      const headers = { origin: companies.serverAt(id).url, 'sec-fetch-site': 'cross-site' };
      const to = locationOf(await browser.submit(new URL(action).pathname, fields, headers));
      const page = await browser.get(to);
      expect(await isSignedIn(browser)).toBe(false);
      return { to, status: page.status, html: await page.text() };
    };
    expect((await unasked('assertion')).to).toContain('#federation:foreign');
    const { to, status, html } = await unasked('open');
    expect([to, status, html]).toEqual([expect.not.stringContaining('#'), 200, expect.stringContaining('<form')]);
  });
});
