import { buildLogoutRequest, parseSamlMessage, readRedirect, redirectAddress } from '../../sandbox/providers/index.ts';
import { findUserByIdentifier } from '../../server/users/index.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import type { TestProviders } from '../support/providers.ts';
import {
  answerXml,
  arrive,
  beginSaml,
  federationLog,
  inBase64,
  pathOf,
  postFromElsewhere,
  type SamlAttempt,
} from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';
import {
  type AnswerChange,
  emailFormat,
  isSignedIn,
  newcomer,
  type SamlSetup,
  startSaml,
  transientFormat,
} from './saml-steps.ts';

describe.each([anyBackend])('SAML', (backend) => {
  let setup: SamlSetup;
  let foyer: TestFoyer;
  let providers: TestProviders;
  beforeAll(async () => {
    setup = await startSaml(backend);
    ({ foyer, providers } = setup);
  });
  afterAll(() => setup?.close());

  it('A SAML sign-in creates a new user and signs the same user in again', async () => {
    const { attempt, to } = await setup.come();
    expect([to.includes('#federation:'), await isSignedIn(attempt.browser)]).toEqual([false, true]);
    const again = await beginSaml(foyer, { search: '?redirect=%2Fsettings' });
    await arrive(foyer, again, await answerXml(providers, again));
    expect(await isSignedIn(again.browser)).toBe(true);
    expect(federationLog(foyer).at(-1)).toMatchObject({ provider: 'acme-saml', outcome: 'signed-in' });
  });

  it('An authentication request names its id, Foyer and the assertion consumer address', async () => {
    const { url, request } = await beginSaml(foyer, { fields: { username: 'ada@corp.acme.example' } });
    expect(url.href.startsWith(`${providers.url}/acme-saml/sso?`)).toBe(true);
    expect(url.searchParams.get('login_hint')).toBe('ada@corp.acme.example');
    expect(url.searchParams.has('Signature')).toBe(false);
    expect(request.app).toBe(`${foyer.url}/federation/acme-saml/metadata`);
    expect(request.acsUrl).toBe(`${foyer.url}/federation/acme-saml/acs`);
    expect(request.id).toMatch(/^_[0-9a-f]{40}$/);
  });

  it('A signed assertion in an unsigned response is accepted', async () => {
    const { attempt } = await setup.come({ sign: 'assertion', ...newcomer() });
    expect(await isSignedIn(attempt.browser)).toBe(true);
  });

  it('Requests are signed and assertions decrypted where the configuration says so', async () => {
    const attempt = await beginSaml(foyer, { provider: 'sealed' });
    expect(readRedirect(attempt.url.search)?.isSignedBy(providers.serviceProvider.certificate)).toBe(true);
    const encryptFor = providers.serviceProvider.certificate;
    for (const sign of ['assertion', 'both'] as const) {
      const sealed = { ...setup.issuerOf('sealed'), ...newcomer(), encryptFor, sign };
      const { attempt: one, to } = await setup.come(sealed, 'sealed');
      // This provider confirms no addresses, so the user needs a code.
      expect(to).toContain('/verify-code');
      expect(await isSignedIn(one.browser)).toBe(false);
    }
  });

  it('An assertion that is not encrypted as configured, or encrypted with a wrong key, is refused', async () => {
    expect((await setup.come({ ...setup.issuerOf('sealed'), ...newcomer() }, 'sealed')).to).toContain(
      'federation:invalid',
    );
    expect(federationLog(foyer).at(-1)?.detail).toBe('the assertion is not encrypted');
    const encryptFor = providers.otherSigner().certificate;
    expect((await setup.come({ ...setup.issuerOf('sealed'), ...newcomer(), encryptFor }, 'sealed')).to).toContain(
      'federation:invalid',
    );
    expect(federationLog(foyer).at(-1)?.detail).toBe('the assertion cannot be decrypted');
    expect((await setup.come({ ...newcomer(), encryptFor })).to).toContain('federation:invalid');
    expect(federationLog(foyer).at(-1)?.detail).toBe('the assertion is encrypted, and this is not configured');
  });

  it('Signatures of both certificates are accepted while the provider changes its certificate', async () => {
    for (const signer of [providers.samlSigner, providers.otherSigner()]) {
      const { to } = await setup.come({ ...setup.issuerOf('rolling'), ...newcomer(), signer }, 'rolling');
      expect(to).toContain('/verify-code');
    }
    // A logout request, whose signature is not in the XML, is accepted too.
    const rolling = `${foyer.url}/federation/rolling/logout`;
    const request = { ...setup.issuerOf('rolling'), destination: rolling, nameId: 'unknown-user' };
    const signed = {
      message: 'SAMLRequest',
      xml: buildLogoutRequest(request),
      signer: providers.otherSigner(),
    } as const;
    expect((await foyer.browser().get(redirectAddress(rolling, signed))).status).toBe(303);
  });

  it('The metadata of Foyer has the addresses and keys that each provider needs', async () => {
    const read = async (id: string) => {
      const answer = await foyer.browser().get(`/federation/${id}/metadata`);
      expect(answer.headers.get('content-type')).toContain('application/samlmetadata+xml');
      return answer.text();
    };
    const whole = await read('acme-saml');
    expect(whole).toContain(`entityID="${foyer.url}/federation/acme-saml/metadata"`);
    expect(whole).toContain(`Location="${foyer.url}/federation/acme-saml/acs"`);
    expect(whole.match(/<SingleLogoutService/g)).toHaveLength(2);
    expect(whole.match(/use="(signing|encryption)"/g)).toEqual(['use="signing"']);
    const sealed = await read('sealed');
    expect(sealed).toContain('AuthnRequestsSigned="true"');
    expect(sealed.match(/use="(signing|encryption)"/g)).toEqual(['use="signing"', 'use="encryption"']);
    expect(sealed).not.toContain('SingleLogoutService');
    const plain = await read('plain');
    expect(plain).not.toContain('KeyDescriptor');
    expect((await foyer.browser().get('/federation/acme-oidc/metadata')).status).toBe(404);
  });

  it('Without a mapping the usual attribute names apply, and the address comes from the NameID', async () => {
    const mail = 'given@plain.example';
    const named = {
      nameId: mail,
      nameIdFormat: emailFormat,
      attributes: { 'urn:oid:2.5.4.42': 'Gi', 'urn:oid:2.5.4.4': 'Ven' },
    };
    const { attempt } = await setup.come({ ...setup.issuerOf('plain'), ...named }, 'plain');
    expect(await isSignedIn(attempt.browser)).toBe(true);
    expect(await findUserByIdentifier(foyer.stores.database.db, { email: toNormalisedEmail(mail) })).toMatchObject({
      givenName: 'Gi',
      familyName: 'Ven',
      emailVerified: true,
    });
  });

  it('An answer that does not say that anybody signed in (no AuthnStatement) is refused', async () => {
    const assertionBeforeSigning = (xml: string) => xml.replace(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/s, '');
    expect((await setup.come({ ...newcomer(), assertionBeforeSigning })).to).toContain('federation:invalid');
    expect(federationLog(foyer).at(-1)?.detail).toBe('the assertion does not say that anybody signed in');
  });

  it('A transient NameID is refused unless an attribute identifies the user', async () => {
    const passing = { ...newcomer(), nameIdFormat: transientFormat };
    expect((await setup.come(passing)).to).toContain('federation:not-set-up');
    expect(federationLog(foyer).at(-1)?.detail).toBe('the NameID is transient, and no other subject is configured');
    const numbered = (employeeNumber: readonly string[]) => ({
      ...passing,
      ...setup.issuerOf('by-number'),
      attributes: { ...passing.attributes, employeeNumber },
    });
    expect((await setup.come(numbered(['4711']), 'by-number')).to).toContain('/verify-code');
    expect((await setup.come(numbered(['4711', '4712']), 'by-number')).to).toContain('federation:invalid');
    expect((await setup.come(numbered([]), 'by-number')).to).toContain('federation:invalid');
  });

  it('A cancelled sign-in at the provider returns with a notice and keeps the return address', async () => {
    const attempt = await beginSaml(foyer, { search: '?redirect=%2Fsettings' });
    const to = await arrive(
      foyer,
      attempt,
      await answerXml(providers, attempt, { status: 'Responder', subStatus: 'RequestDenied', sign: 'none' }),
    );
    expect(new URL(to, foyer.url).searchParams.get('redirect')).toBe('/settings');
    expect(to).toContain('federation:cancelled');
    const failed = await setup.come({ status: 'Responder', sign: 'none' });
    expect(failed.to).toContain('federation:provider-error');
  });

  it('An old sign-in at the provider is refused as not fresh when reauthentication was requested', async () => {
    const user = (await setup.come()).attempt.browser;
    const again = await beginSaml(foyer, { browser: user, search: '?forceAuth=1' });
    const carried = readRedirect(again.url.search);
    expect(parseSamlMessage(carried?.xml ?? '')?.forceAuthn).toBe(true);
    const old = await answerXml(providers, again, { issuedAtMs: Date.now() - 70_000, notBeforeMs: null });
    // A second attempt would not help, so the page asks for another sign-in method.
    expect(await arrive(foyer, again, old)).toContain('federation:not-fresh');
    expect(federationLog(foyer).at(-1)?.detail).toBe('person was not reauthenticated');
  });

  describe('an unsolicited response', () => {
    const acs = '/federation/open/acs';
    const unasked = async (change: AnswerChange = {}, relayState = '') => {
      const request = { id: null as never, acsUrl: `${foyer.url}${acs}`, app: `${foyer.url}/federation/open/metadata` };
      const xml = await answerXml(providers, { request } as Pick<SamlAttempt, 'request'>, {
        ...setup.issuerOf('open'),
        inResponseTo: null,
        ...change,
      });
      return {
        xml,
        answer: await postFromElsewhere(foyer, acs, { SAMLResponse: inBase64(xml), RelayState: relayState }),
      };
    };

    it('An unsolicited response asks the user first, ignores a foreign RelayState and is accepted once', async () => {
      const { xml, answer } = await unasked(newcomer('open.example'), 'https://evil.example/');
      const browser = foyer.browser();
      const page = await browser.get(pathOf(answer), { from: 'cross-site' });
      const text = await page.text();
      expect([page.status, text.includes('New Comer · new'), text.includes('evil.example')]).toEqual([
        200,
        true,
        false,
      ]);
      expect(await isSignedIn(browser)).toBe(false);
      const ticket = new URL(pathOf(answer), foyer.url).searchParams.get('ticket') ?? '';
      const done = await browser.post('/federation/open/finish', { ticket });
      expect([done.status, new URL(pathOf(done), foyer.url).origin]).toEqual([303, foyer.url]);
      expect(await isSignedIn(browser)).toBe(true);
      // Neither the ticket nor the assertion can be used again.
      expect(pathOf(await foyer.browser().post('/federation/open/finish', { ticket }))).toContain('federation:over');
      const replayed = await postFromElsewhere(foyer, acs, { SAMLResponse: inBase64(xml) });
      expect(pathOf(replayed)).toContain('federation:over');
      expect(federationLog(foyer).at(-1)?.detail).toBe('assertion already used');
    });

    it('Attack: the confirmation of an unsolicited response is refused when another site posts it', async () => {
      const { answer } = await unasked(newcomer('open.example'));
      const ticket = new URL(pathOf(answer), foyer.url).searchParams.get('ticket') ?? '';
      const from = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      expect((await foyer.browser().post('/federation/open/finish', { ticket }, from)).status).toBe(403);
    });

    it('Attack: a response to a request is refused without the attempt of that request', async () => {
      const { answer } = await unasked({ ...newcomer('open.example'), inResponseTo: '_somebody-elses' });
      expect(pathOf(answer)).toContain('federation:foreign');
    });
  });
});
