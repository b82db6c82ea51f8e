import { isSignedIn } from '../federation/saml-steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { federationLog, goingOnTo } from '../support/saml.ts';
import { asksThere, readForm, type SamlCompany, simpleSamlPhp, startSamlCompanies } from './saml-products.ts';

const nameId = 'urn:oasis:names:tc:SAML:2.0:nameid-format:';
const email = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const binding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-';
const uri = 'urn:oasis:names:tc:SAML:2.0:attrname-format:uri';
/** Without it SimpleSAMLphp has no persistent NameIDs, and sends transient ones instead. */
const persistent = { 'userid.attribute': 'employeeNumber', 'sign.logout': true };
const sealed = { encryptedAssertions: true };
const mapped = (name: string) => ({
  'attributes.NameFormat': uri,
  authproc: { 100: { class: 'core:AttributeMap', 0: name } },
});

const works = {
  persistent: { hosted: persistent },
  filtered: { hosted: { authproc: { 50: { class: 'saml:PersistentNameID', attribute: 'employeeNumber' } } } },
  assertion: { hosted: { ...persistent, 'saml20.sign.response': false } },
  sha512: {
    hosted: { ...persistent, 'signature.algorithm': 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512' },
  },
  oids: { hosted: { ...persistent, ...mapped('name2oid') } },
  urns: { hosted: { ...persistent, ...mapped('name2urn') } },
  sealed: { hosted: { ...persistent, 'assertion.encryption': true }, entry: sealed },
  gcm: {
    hosted: {
      ...persistent,
      'assertion.encryption': true,
      sharedkey_algorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    },
    entry: sealed,
  },
  'sealed-name': { hosted: { ...persistent, 'assertion.encryption': true, 'nameid.encryption': true }, entry: sealed },
  transient: {
    hosted: { NameIDFormat: `${nameId}transient`, 'sign.logout': true },
    entry: { nameIdFormat: `${nameId}transient`, subject: 'employeeNumber' },
  },
  email: {
    hosted: {
      NameIDFormat: email,
      authproc: { 50: { class: 'saml:AttributeNameID', attribute: 'mail', Format: email } },
    },
    entry: { nameIdFormat: email },
  },
  post: {
    hosted: { ...persistent, SingleSignOnServiceBinding: [`${binding}Redirect`, `${binding}POST`] },
    entry: { requestBinding: 'post' },
  },
  signed: { hosted: { ...persistent, 'validate.authnrequest': true, 'redirect.validate': true } },
  'signed-post': {
    hosted: {
      ...persistent,
      'validate.authnrequest': true,
      'redirect.validate': true,
      SingleSignOnServiceBinding: [`${binding}Redirect`, `${binding}POST`],
    },
    entry: { requestBinding: 'post' },
  },
  /** The setting is left out, so the running server follows the metadata. */
  wished: {
    hosted: { ...persistent, 'validate.authnrequest': true, 'redirect.validate': true },
    entry: { signRequests: undefined },
  },
  open: { hosted: persistent, entry: { idpInitiated: true } },
} as const satisfies Record<string, SamlCompany>;

const refused = {
  template: {},
  response: {
    hosted: { ...persistent, 'saml20.sign.assertion': false },
    // Otherwise it follows the wish of the metadata.
    metadata: (xml: string) => xml.replace('WantAssertionsSigned="true"', 'WantAssertionsSigned="false"'),
  },
  sha1: { hosted: { ...persistent, 'signature.algorithm': 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' } },
  unsigned: {
    hosted: { ...persistent, 'validate.authnrequest': true, 'redirect.validate': true },
    entry: { signRequests: false },
  },
  unsealed: { hosted: persistent, entry: sealed },
} as const satisfies Record<string, SamlCompany>;

type Id = keyof typeof works | keyof typeof refused;
const idsThatWork = Object.keys(works) as (keyof typeof works)[];

describe('sign-in by SimpleSAMLphp', () => {
  let companies: Awaited<ReturnType<typeof startSamlCompanies<Id>>>;
  beforeAll(async () => {
    companies = await startSamlCompanies<Id>(simpleSamlPhp, { ...works, ...refused });
  }, 120_000);
  afterAll(() => companies?.close());
  const outcome = () => federationLog(companies.foyer).at(-1);
  const start = async (id: Id) => {
    const browser = companies.foyer.browser();
    expect(await companies.signIn(id, browser)).not.toContain('federation-');
    return browser;
  };

  it.each(idsThatWork)('A person signs up by SimpleSAMLphp as it is set up in %s, and signs in again', async (id) => {
    expect(await companies.signIn(id)).not.toContain('#');
    expect(outcome()).toMatchObject({ provider: id, outcome: 'created' });
    const again = await start(id);
    expect(outcome()).toMatchObject({ provider: id, outcome: 'signed-in' });
    expect(await isSignedIn(again)).toBe(true);
  });

  it.each<[keyof typeof refused, RegExp]>([
    ['template', /^the NameID is transient, and no other subject is configured$/],
    ['response', /not signed/],
    ['sha1', /SignatureMethod that is not accepted/],
    ['unsealed', /encrypted/],
  ])('A sign-in by SimpleSAMLphp as it is set up in %s is refused, and the log says why', async (id, detail) => {
    expect(await companies.signIn(id)).toContain('#federation:');
    expect(outcome()).toMatchObject({ provider: id, detail: expect.stringMatching(detail) });
  });

  it('SimpleSAMLphp verifies the signature of a request, and the check names a provider whose requests lack it', async () => {
    for (const id of ['signed', 'wished'] as const) {
      const browser = companies.foyer.browser();
      const url = await goingOnTo(await browser.post(`/federation/${id}`));
      const open = async () => companies.follow(browser, await browser.get(url.href), url.href);
      expect(asksThere(await open())).toBe(true);
      url.searchParams.set('RelayState', 'another');
      expect(asksThere(await open())).toBe(false);
      url.searchParams.delete('Signature');
      expect(asksThere(await open())).toBe(false);
    }
    const faults = async (id: Id) =>
      (await companies.command('provider', 'check', id, '--json')).json().providers as { faults: string[] }[];
    const wanted = expect.stringContaining('its metadata want signed requests');
    expect(await faults('unsigned')).toMatchObject([{ faults: [wanted] }]);
    for (const id of ['wished', 'signed'] as const) expect(await faults(id)).toMatchObject([{ faults: [] }]);
  });

  it.each(['wished', 'signed'] as const)('The metadata of Foyer for %s say that requests are signed', async (id) => {
    const metadata = await (await companies.foyer.browser().get(`/federation/${id}/metadata`)).text();
    expect(metadata).toContain('AuthnRequestsSigned="true"');
    const plain = await (await companies.foyer.browser().get('/federation/persistent/metadata')).text();
    expect(plain).toContain('AuthnRequestsSigned="false"');
  });

  it('SimpleSAMLphp asks again where Foyer wants a fresh sign-in, and its answer counts as fresh', async () => {
    const browser = await start('persistent');
    await forgetFoyer(browser);
    expect(asksThere(await companies.press('persistent', browser))).toBe(false);
    const page = await companies.press('persistent', browser, '?forceAuth=1');
    expect(asksThere(page)).toBe(true);
    const { html } = await companies.signInThere(browser, page);
    expect(await companies.deliver(browser, html)).not.toContain('#');
  });

  /** The session there stays. */
  const forgetFoyer = (browser: Browser) => browser.jar.store.removeCookies('localhost', null);

  /** Goes on between Foyer and SimpleSAMLphp until neither redirects to the other. */
  async function goOn(browser: Browser, address: string): Promise<string> {
    let at = address;
    for (let hops = 0; hops < 10; hops += 1) {
      const page = await companies.follow(browser, await browser.get(at, { from: 'cross-site' }), at);
      if (page.html !== '' || !new URL(page.address).pathname.startsWith('/federation/')) return page.address;
      at = page.address;
    }
    return at;
  }

  it.each(['persistent', 'sealed', 'sealed-name', 'transient'] as const)(
    'Signing out of Foyer also signs out at SimpleSAMLphp (%s)',
    async (id) => {
      const browser = await start(id);
      const to = await goingOnTo(await browser.post('/logout'));
      expect(to.origin).toBe(companies.serverAt(id).url);
      expect(await goOn(browser, to.href)).toContain(companies.foyer.url);
      expect(await isSignedIn(browser)).toBe(false);
      expect(asksThere(await companies.press(id, browser))).toBe(true);
    },
  );

  it.each(['persistent', 'sealed', 'sealed-name', 'transient'] as const)(
    'Signing out at SimpleSAMLphp also signs out of Foyer (%s)',
    async (id) => {
      const browser = await start(id);
      const { url } = companies.serverAt(id);
      const back = `${url}/saml2/idp/SSOService.php`;
      await goOn(browser, `${url}/saml2/idp/SingleLogoutService.php?${new URLSearchParams({ ReturnTo: back })}`);
      expect(outcome()).toMatchObject({ provider: id, outcome: 'signed-out-there', count: 1 });
      expect(await isSignedIn(browser)).toBe(false);
    },
  );

  it('A logout request that SimpleSAMLphp does not sign, as by default, is refused, and the log says why', async () => {
    const browser = await start('filtered');
    const { url } = companies.serverAt('filtered');
    await goOn(browser, `${url}/saml2/idp/SingleLogoutService.php?${new URLSearchParams({ ReturnTo: url })}`);
    expect(outcome()).toMatchObject({ outcome: 'logout-refused', detail: 'the message is not signed' });
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('A sign-in that begins at SimpleSAMLphp is refused by default, and asks first where the entry allows it', async () => {
    const unasked = async (id: Id) => {
      const browser = companies.foyer.browser();
      const spentityid = `${companies.foyer.url}/federation/${id}/metadata`;
      const url = `${companies.serverAt(id).url}/saml2/idp/SSOService.php?${new URLSearchParams({ spentityid })}`;
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
    expect((await unasked('persistent')).to).toContain('#federation:foreign');
    const { to, status, html } = await unasked('open');
    expect([to, status, html]).toEqual([expect.not.stringContaining('#'), 200, expect.stringContaining('<form')]);
  });
});
