import { buildLogoutRequest, parseSamlMessage, readRedirect, redirectAddress } from '../../sandbox/providers/index.ts';
import type { UpstreamIdentity } from '../../server/federation/identity.ts';
import { insertIdentity } from '../../server/federation/identity-store.ts';
import { findUserByIdentifier } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { relyingParty } from '../support/relying-party.ts';
import {
  answerXml,
  arrive,
  beginSaml,
  federationLog,
  goingOnTo,
  inBase64,
  pathOf,
  postFromElsewhere,
  type SamlAttempt,
} from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { sidOf, toldApp } from '../support/told-app.ts';

const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

describe.each([anyBackend])('SAML', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    const next = providers.write('next.crt', providers.otherSigner().certificate);
    const none = providers.write('none.crt', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----');
    foyer = await startFoyer(
      backend,
      providers.environment((file) => {
        const saml = file.providers[1] as Record<string, unknown>;
        const more = (id: string, change: object) => ({
          ...saml,
          id,
          entityId: `${saml.entityId}-${id}`,
          domains: [],
          ...change,
        });
        return {
          ...file,
          providers: [
            ...file.providers,
            more('sealed', { encryptedAssertions: true, signRequests: true, logoutUrl: undefined }),
            more('rolling', { certificates: [none, 'acme-saml.crt', next] }),
            more('open', { idpInitiated: true, domains: ['open.example'] }),
            more('by-number', { subject: 'employeeNumber' }),
            more('plain', { logoutUrl: undefined, attributes: {}, domains: ['plain.example'] }),
          ],
        };
      }),
    );
    providers.tell(foyer.url);
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  let others = 0;
  /** Of whom nobody has heard before, in a domain for which the provider vouches. */
  const newcomer = (domain = 'corp.acme.example') => {
    others += 1;
    return {
      nameId: `subject-${others}`,
      attributes: { mail: `new${others}@${domain}`, givenName: 'New', sn: 'Comer' },
    };
  };
  const issuerOf = (provider: string) => ({ issuer: `${providers.saml.entityId}-${provider}` });
  const isSignedIn = async (browser: Browser) => (await browser.get('/')).status === 303;
  const come = async (change: Parameters<typeof answerXml>[2] = {}, provider = 'acme-saml') => {
    const attempt = await beginSaml(foyer, { provider });
    return { attempt, to: await arrive(foyer, attempt, await answerXml(providers, attempt, change)) };
  };

  it('A SAML sign-in creates a new user and signs the same user in again', async () => {
    const { attempt, to } = await come();
    expect([to.startsWith('/?notice'), await isSignedIn(attempt.browser)]).toEqual([false, true]);
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
    const { attempt } = await come({ sign: 'assertion', ...newcomer() });
    expect(await isSignedIn(attempt.browser)).toBe(true);
  });

  it('Requests are signed and assertions decrypted where the configuration says so', async () => {
    const attempt = await beginSaml(foyer, { provider: 'sealed' });
    expect(readRedirect(attempt.url.search)?.isSignedBy(providers.serviceProvider.certificate)).toBe(true);
    const encryptFor = providers.serviceProvider.certificate;
    for (const sign of ['assertion', 'both'] as const) {
      const sealed = { ...issuerOf('sealed'), ...newcomer(), encryptFor, sign };
      const { attempt: one, to } = await come(sealed, 'sealed');
      // Nobody vouches for addresses here, so a code is asked for.
      expect(to).toContain('/verify-code');
      expect(await isSignedIn(one.browser)).toBe(false);
    }
  });

  it('An assertion that is not encrypted as configured, or encrypted with a wrong key, is refused', async () => {
    expect((await come({ ...issuerOf('sealed'), ...newcomer() }, 'sealed')).to).toContain('federation-invalid');
    expect(federationLog(foyer).at(-1)?.detail).toBe('the assertion is not encrypted');
    const encryptFor = providers.otherSigner().certificate;
    expect((await come({ ...issuerOf('sealed'), ...newcomer(), encryptFor }, 'sealed')).to).toContain(
      'federation-invalid',
    );
    expect(federationLog(foyer).at(-1)?.detail).toBe('the assertion cannot be decrypted');
    expect((await come({ ...newcomer(), encryptFor })).to).toContain('federation-invalid');
    expect(federationLog(foyer).at(-1)?.detail).toBe('the assertion is encrypted, and this is not configured');
  });

  it('Signatures of both certificates are accepted while the provider changes its certificate', async () => {
    for (const signer of [providers.samlSigner, providers.otherSigner()]) {
      const { to } = await come({ ...issuerOf('rolling'), ...newcomer(), signer }, 'rolling');
      expect(to).toContain('/verify-code');
    }
    // As does a logout, which is no XML signature.
    const rolling = `${foyer.url}/federation/rolling/logout`;
    const request = { ...issuerOf('rolling'), destination: rolling, nameId: 'nobody' };
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
    const { attempt } = await come({ ...issuerOf('plain'), ...named }, 'plain');
    expect(await isSignedIn(attempt.browser)).toBe(true);
    expect(await findUserByIdentifier(foyer.stores.database.db, { email: toNormalisedEmail(mail) })).toMatchObject({
      givenName: 'Gi',
      familyName: 'Ven',
      emailVerified: true,
    });
  });

  it('A transient NameID is refused unless an attribute identifies the user', async () => {
    const passing = { ...newcomer(), nameIdFormat: transient };
    expect((await come(passing)).to).toContain('federation-invalid');
    expect(federationLog(foyer).at(-1)?.detail).toBe('the NameID is transient, and no other subject is configured');
    const numbered = (employeeNumber: readonly string[]) => ({
      ...passing,
      ...issuerOf('by-number'),
      attributes: { ...passing.attributes, employeeNumber },
    });
    expect((await come(numbered(['4711']), 'by-number')).to).toContain('/verify-code');
    expect((await come(numbered(['4711', '4712']), 'by-number')).to).toContain('federation-invalid');
    expect((await come(numbered([]), 'by-number')).to).toContain('federation-invalid');
  });

  it('A cancelled sign-in at the provider returns with a notice and keeps the return address', async () => {
    const attempt = await beginSaml(foyer, { search: '?redirect=%2Fsettings' });
    const to = await arrive(
      foyer,
      attempt,
      await answerXml(providers, attempt, { status: 'Responder', subStatus: 'RequestDenied', sign: 'none' }),
    );
    expect(new URL(to, foyer.url).searchParams.get('redirect')).toBe('/settings');
    expect(to).toContain('federation-cancelled');
    const failed = await come({ status: 'Responder', sign: 'none' });
    expect(failed.to).toContain('federation-provider-error');
  });

  describe('an unsolicited response', () => {
    const acs = '/federation/open/acs';
    const unasked = async (change: Parameters<typeof answerXml>[2] = {}, relayState = '') => {
      const request = { id: null as never, acsUrl: `${foyer.url}${acs}`, app: `${foyer.url}/federation/open/metadata` };
      const xml = await answerXml(providers, { request } as Pick<SamlAttempt, 'request'>, {
        ...issuerOf('open'),
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
      // Neither the ticket nor the assertion is good for a second time.
      expect(pathOf(await foyer.browser().post('/federation/open/finish', { ticket }))).toContain('federation-over');
      const replayed = await postFromElsewhere(foyer, acs, { SAMLResponse: inBase64(xml) });
      expect(pathOf(replayed)).toContain('federation-over');
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
      expect(pathOf(answer)).toContain('federation-foreign');
    });
  });

  describe('single logout', () => {
    const signedIn = async (change: Parameters<typeof answerXml>[2] = {}) => {
      const who = newcomer();
      const { attempt } = await come({ ...who, sessionIndex: '_s1', ...change });
      expect(await isSignedIn(attempt.browser)).toBe(true);
      return { browser: attempt.browser, nameId: (change.nameId ?? who.nameId) as string };
    };
    const slo = () => `${foyer.url}/federation/acme-saml/logout`;
    const requestXml = (nameId: string, more: Partial<Parameters<typeof buildLogoutRequest>[0]> = {}) =>
      buildLogoutRequest({ issuer: providers.saml.entityId, destination: slo(), nameId, atMs: Date.now(), ...more });
    const redirected = (xml: string, more: Partial<Parameters<typeof redirectAddress>[1]> = {}) =>
      redirectAddress(slo(), {
        message: 'SAMLRequest',
        xml,
        relayState: 'r (1)',
        signer: providers.samlSigner,
        ...more,
      });

    it('A sign-out sends a signed logout request to the provider and returns to Foyer', async () => {
      const { browser, nameId } = await signedIn();
      const there = await goingOnTo(await browser.post('/logout'));
      expect(await isSignedIn(browser)).toBe(false);
      const asked = readRedirect(there.search);
      expect(asked?.isSignedBy(providers.serviceProvider.certificate)).toBe(true);
      expect(parseSamlMessage(asked?.xml ?? '')).toMatchObject({ name: 'LogoutRequest', nameId, sessionIndex: '_s1' });
      const back = await sendRequest(there, { redirect: 'manual' });
      expect(pathOf(await browser.get(back.headers.get('location') ?? '', { from: 'cross-site' }))).toBe('/');
    });

    it.each(['POST', 'GET'])(
      'A sign-out that a client requests by %s returns to that client once, after the provider',
      async (method) => {
        const { browser } = await signedIn();
        const bye = 'https://app.example.net/bye';
        const client = await foyer.addClient({ redirectUris: ['https://app.example.net/cb'], logoutUris: [bye] });
        const asked = { client_id: client.id, logout_uri: bye, state: 'x' };
        const fromThere = { from: 'cross-site', headers: { referer: 'https://app.example.net/' } } as const;
        const there = await goingOnTo(
          method === 'POST'
            ? await browser.post('/logout', asked)
            : await browser.get(`/logout?${new URLSearchParams(asked)}`, fromThere),
        );
        const back = await sendRequest(there, { redirect: 'manual' });
        const end = await browser.get(back.headers.get('location') ?? '', { from: 'cross-site' });
        expect(end.headers.get('location')).toBe(`${bye}?state=x`);
        // Once.
        expect(pathOf(await browser.get(back.headers.get('location') ?? '', { from: 'cross-site' }))).toBe('/');
      },
    );

    it('A logout request of a client at the provider endpoint also signs out at the SAML provider', async () => {
      // A member who has accepted the terms, so that nothing stands before the client app.
      const [nameId, issuer] = ['of-a-member', providers.saml.entityId];
      const linked = {
        kind: 'saml',
        issuer,
        subject: nameId,
        provider: 'acme-saml',
        email: undefined,
      } as UpstreamIdentity;
      const { id } = await foyer.addUser();
      await foyer.stores.database.transaction((trx) => insertIdentity(trx, id, linked, Date.now(), { used: false }));
      const { browser } = (await come({ nameId })).attempt;
      const bye = 'http://127.0.0.1:9/bye';
      const client = await relyingParty(foyer, await foyer.addClient({ logoutUris: [bye] }));
      const begun = await client.begin({ prompt: 'none' });
      const tokens = await client.redeem(locationOf(await browser.get(begun.url, { from: 'cross-site' })), begun);
      const asked = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: bye, client_id: client.id };
      // By a page of its own: the policy of the app's form knows no provider.
      const there = await goingOnTo(
        await browser.get(`/oauth2/logout?${new URLSearchParams(asked)}`, { from: 'cross-site' }),
      );
      const request = readRedirect(there.search);
      expect(parseSamlMessage(request?.xml ?? '')).toMatchObject({ name: 'LogoutRequest', nameId });
      const back = locationOf(await sendRequest(there, { redirect: 'manual' }));
      expect(locationOf(await browser.get(back, { from: 'cross-site' }))).toBe(bye);
      expect(await isSignedIn(browser)).toBe(false);
    });

    it('The page warns when the provider did not sign the user out or has no single logout', async () => {
      const { browser } = await signedIn();
      const there = await goingOnTo(await browser.post('/logout'));
      const relayState = there.searchParams.get('RelayState') ?? '';
      const to = pathOf(await browser.get(`/federation/acme-saml/logout?SAMLResponse=x&RelayState=${relayState}`));
      expect(await (await browser.get(to)).text()).toContain('still signed in at Acme Corporate');
      const mail = 'second@plain.example';
      const { attempt } = await come(
        { ...issuerOf('plain'), nameId: mail, nameIdFormat: emailFormat, attributes: {} },
        'plain',
      );
      const asked = await (await attempt.browser.get('/logout')).text();
      expect(asked).toContain('You will stay signed in at Acme Corporate');
      expect(pathOf(await attempt.browser.post('/logout'))).toBe('/?notice=federation-signed-out&provider=plain');
    });

    it('A logout request of the provider by redirect ends the user’s sessions and gets a signed response', async () => {
      const { browser, nameId } = await signedIn();
      const other = (await come({ nameId, sessionIndex: '_s2' })).attempt.browser;
      const stranger = (await signedIn()).browser;
      const answer = await foyer.browser().get(redirected(requestXml(nameId, { sessionIndex: '_s1' })));
      expect([await isSignedIn(browser), await isSignedIn(other), await isSignedIn(stranger)]).toEqual([
        false,
        true,
        true,
      ]);
      const said = readRedirect(new URL(answer.headers.get('location') ?? '').search);
      expect(said?.isSignedBy(providers.serviceProvider.certificate)).toBe(true);
      expect(parseSamlMessage(said?.xml ?? '')).toMatchObject({ name: 'LogoutResponse', status: 'Success' });
      expect(said?.relayState).toBe('r (1)');
      await foyer.browser().get(redirected(requestXml(nameId)));
      expect([await isSignedIn(other), await isSignedIn(stranger)]).toEqual([false, true]);
    });

    describe('a user who is signed in to a client', () => {
      /** A member whom nothing keeps from client apps, come by the provider. */
      const memberHere = async () => {
        const { nameId } = newcomer();
        const issuer = providers.saml.entityId;
        const linked: UpstreamIdentity = {
          kind: 'saml',
          issuer,
          subject: nameId,
          provider: 'acme-saml',
          email: undefined,
        } as UpstreamIdentity;
        const user = await foyer.addUser();
        await foyer.stores.database.transaction((trx) =>
          insertIdentity(trx, user.id, linked, Date.now(), { used: false }),
        );
        const { browser } = (await come({ nameId, sessionIndex: '_s1' })).attempt;
        return { user, browser, nameId };
      };

      it('A client gets its logout token whichever side starts the single logout', async () => {
        const app = await toldApp(foyer);
        for (const side of ['there', 'here']) {
          const { user, browser, nameId } = await memberHere();
          const sid = sidOf(await app.tokens(browser, user));
          if (side === 'there') await foyer.browser().get(redirected(requestXml(nameId, { sessionIndex: '_s1' })));
          else await goingOnTo(await browser.post('/logout'));
          expect([side, await app.heard(), await isSignedIn(browser)]).toEqual([side, [sid], false]);
        }
        await app.close();
      });

      it('A sign-out to switch the account returns to the sign-in form of the client’s request', async () => {
        const { browser } = await memberHere();
        const client = await relyingParty(foyer, await foyer.addClient());
        const { searchParams } = new URL((await client.begin()).url);
        const there = await goingOnTo(await browser.post('/logout', Object.fromEntries(searchParams)));
        const back = locationOf(await sendRequest(there, { redirect: 'manual' }));
        const authorize = locationOf(await browser.get(back, { from: 'cross-site' }));
        expect(new URL(authorize).pathname).toBe('/oauth2/authorize');
        const landing = locationOf(await browser.get(authorize, { from: 'cross-site' }));
        expect(await (await browser.get(landing)).text()).toContain('name="password"');
      });
    });

    it('A logout request by cross-site POST ends the session', async () => {
      const { browser, nameId } = await signedIn();
      const xml = requestXml(nameId, { signer: providers.samlSigner });
      const answer = await postFromElsewhere(foyer, '/federation/acme-saml/logout', { SAMLRequest: inBase64(xml) });
      expect([answer.status, await isSignedIn(browser)]).toEqual([303, false]);
    });

    it('A logout request also ends a session whose id changed by reauthentication', async () => {
      const { browser, nameId } = await signedIn();
      const again = await beginSaml(foyer, { browser, search: '?forceAuth=1' });
      await arrive(foyer, again, await answerXml(providers, again, { nameId, sessionIndex: '_s1' }));
      expect(await isSignedIn(browser)).toBe(true);
      // As it comes in truth: by the member's own browser, whose session must not come back with the answer.
      await browser.get(redirected(requestXml(nameId, { sessionIndex: '_s1' })), { from: 'cross-site' });
      expect(await isSignedIn(browser)).toBe(false);
    });

    it.each([
      [
        'unsigned',
        (nameId: string) => redirected(requestXml(nameId), { signer: undefined }),
        'the message is not signed',
      ],
      [
        'signed by another',
        (nameId: string) => redirected(requestXml(nameId), { signer: providers.otherSigner() }),
        'the message is not signed by this provider',
      ],
      [
        'with another message beside the signed one',
        (nameId: string) =>
          `${redirected(requestXml('nobody'))}&SAMLRequest=${encodeURIComponent(readRaw(redirected(requestXml(nameId))))}`,
        'a parameter is given twice',
      ],
      [
        'with another RelayState than was signed',
        (nameId: string) => redirected(requestXml(nameId)).replace('RelayState=r', 'RelayState=s'),
        'the message is not signed by this provider',
      ],
      [
        'of another issuer',
        (nameId: string) => redirected(requestXml(nameId, { issuer: 'https://else.example' })),
        'the issuer of the message is not this provider',
      ],
      [
        'for another address',
        (nameId: string) => redirected(requestXml(nameId, { destination: 'https://else.example' })),
        'the destination is another address than this one',
      ],
      [
        'that is old',
        (nameId: string) => redirected(requestXml(nameId, { atMs: Date.now() - 600_000 })),
        'the message has expired',
      ],
      [
        'that has ended',
        (nameId: string) => redirected(requestXml(nameId, { notOnOrAfterMs: Date.now() - 60_000 })),
        'the message has expired',
      ],
      [
        'from the future',
        (nameId: string) => redirected(requestXml(nameId, { atMs: Date.now() + 60_000 })),
        'the message was issued in the future',
      ],
    ])('Attack: a logout request %s is refused', async (_what, address, detail) => {
      const { browser, nameId } = await signedIn();
      expect((await foyer.browser().get(address(nameId))).status).toBe(400);
      expect(federationLog(foyer).at(-1)?.detail).toBe(detail);
      expect(await isSignedIn(browser)).toBe(true);
    });

    it('Attack: a replayed logout request and a posted one without a valid signature are refused', async () => {
      const { nameId } = await signedIn();
      const address = redirected(requestXml(nameId));
      expect((await foyer.browser().get(address)).status).toBe(303);
      expect((await foyer.browser().get(address)).status).toBe(400);
      for (const signer of [undefined, providers.otherSigner()]) {
        const xml = requestXml(nameId, signer && { signer });
        const answer = await postFromElsewhere(foyer, '/federation/acme-saml/logout', { SAMLRequest: inBase64(xml) });
        expect(answer.status).toBe(400);
      }
    });
  });

  it('An old sign-in at the provider is refused as not fresh when reauthentication was requested', async () => {
    const user = (await come()).attempt.browser;
    const again = await beginSaml(foyer, { browser: user, search: '?forceAuth=1' });
    const carried = readRedirect(again.url.search);
    expect(parseSamlMessage(carried?.xml ?? '')?.forceAuthn).toBe(true);
    const old = await answerXml(providers, again, { issuedAtMs: Date.now() - 60_000, notBeforeMs: null });
    // To try again is no use: the page asks for another way.
    expect(await arrive(foyer, again, old)).toContain('federation-not-fresh');
    expect(federationLog(foyer).at(-1)?.detail).toBe('person was not reauthenticated');
  });
});

const readRaw = (address: string) => new URL(address).searchParams.get('SAMLRequest') ?? '';
