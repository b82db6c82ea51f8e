import { constants, sign } from 'node:crypto';
import { buildLogoutRequest, parseSamlMessage, readRedirect, redirectAddress } from '../../sandbox/providers/index.ts';
import type { UpstreamIdentity } from '../../server/federation/identity.ts';
import { insertIdentity } from '../../server/federation/identity-store.ts';
import { locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import type { TestProviders } from '../support/providers.ts';
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
} from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { sidOf, toldApp } from '../support/told-app.ts';
import { type AnswerChange, emailFormat, isSignedIn, newcomer, type SamlSetup, startSaml } from './saml-steps.ts';

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

describe.each([anyBackend])('SAML single logout', (backend) => {
  let setup: SamlSetup;
  let foyer: TestFoyer;
  let providers: TestProviders;
  beforeAll(async () => {
    setup = await startSaml(backend);
    ({ foyer, providers } = setup);
  });
  afterAll(() => setup?.close());

  const signedIn = async (change: AnswerChange = {}) => {
    const who = newcomer();
    const { attempt } = await setup.come({ ...who, sessionIndex: '_s1', ...change });
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
      // The return address is used once.
      expect(pathOf(await browser.get(back.headers.get('location') ?? '', { from: 'cross-site' }))).toBe('/');
    },
  );

  it('A logout request of a client at the provider endpoint also signs out at the SAML provider', async () => {
    // This user has accepted the terms, so no page precedes the client app.
    const [nameId, issuer] = ['of-a-member', providers.saml.entityId];
    const linked = {
      kind: 'saml',
      issuer,
      subject: nameId,
      provider: 'acme-saml',
      email: undefined,
    } as UpstreamIdentity;
    const { id } = await foyer.addUser();
    await foyer.stores.database.transaction((trx) =>
      insertIdentity(trx, { userId: id, identity: linked, nowMs: Date.now(), used: false }),
    );
    const { browser } = (await setup.come({ nameId })).attempt;
    const bye = 'http://127.0.0.1:9/bye';
    const client = await relyingParty(foyer, await foyer.addClient({ logoutUris: [bye] }));
    const begun = await client.begin({ prompt: 'none' });
    const tokens = await client.redeem(locationOf(await browser.get(begun.url, { from: 'cross-site' })), begun);
    const asked = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: bye, client_id: client.id };
    // A page of its own redirects, because the form-action policy of the app's form does not list the provider.
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
    const { attempt } = await setup.come(
      { ...setup.issuerOf('plain'), nameId: mail, nameIdFormat: emailFormat, attributes: {} },
      'plain',
    );
    const asked = await (await attempt.browser.get('/logout')).text();
    expect(asked).toContain('You’ll stay signed in at Acme Corporate');
    expect(pathOf(await attempt.browser.post('/logout'))).toBe('/#federation:signed-out/plain');
  });

  it('A logout request of the provider by redirect ends the user’s sessions and gets a signed response', async () => {
    const { browser, nameId } = await signedIn();
    const other = (await setup.come({ nameId, sessionIndex: '_s2' })).attempt.browser;
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
    /** A user with accepted terms who has signed in by the provider. */
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
        insertIdentity(trx, { userId: user.id, identity: linked, nowMs: Date.now(), used: false }),
      );
      const { browser } = (await setup.come({ nameId, sessionIndex: '_s1' })).attempt;
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

  it.each([
    ['2001/04/xmldsig-more#rsa-sha512', 'sha512', {}],
    ['2007/05/xmldsig-more#sha256-rsa-MGF1', 'sha256', pss],
    ['2007/05/xmldsig-more#sha512-rsa-MGF1', 'sha512', pss],
  ])('A logout request by redirect that is signed with %s ends the session', async (name, hash, padding) => {
    const { browser, nameId } = await signedIn();
    const message = new URL(redirected(requestXml(nameId))).searchParams.get('SAMLRequest') ?? '';
    const text = `SAMLRequest=${encodeURIComponent(message)}&SigAlg=${encodeURIComponent(`http://www.w3.org/${name}`)}`;
    const key = providers.samlSigner.privateKey;
    const address = (signature: Buffer) =>
      `${slo()}?${text}&Signature=${encodeURIComponent(signature.toString('base64'))}`;
    const forged = sign(hash, Buffer.from(text), { key: providers.otherSigner().privateKey, ...padding });
    expect((await foyer.browser().get(address(forged))).status).toBe(400);
    const answer = await foyer.browser().get(address(sign(hash, Buffer.from(text), { key, ...padding })));
    expect([answer.status, await isSignedIn(browser)]).toEqual([303, false]);
  });

  it('A logout request also ends a session whose id changed by reauthentication', async () => {
    const { browser, nameId } = await signedIn();
    const again = await beginSaml(foyer, { browser, search: '?forceAuth=1' });
    await arrive(foyer, again, await answerXml(providers, again, { nameId, sessionIndex: '_s1' }));
    expect(await isSignedIn(browser)).toBe(true);
    // The user's own browser brings the request, and the answer must not restore its session.
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
        `${redirected(requestXml('unknown-user'))}&SAMLRequest=${encodeURIComponent(readRaw(redirected(requestXml(nameId))))}`,
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
      (nameId: string) => redirected(requestXml(nameId, { atMs: Date.now() + 70_000 })),
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

const readRaw = (address: string) => new URL(address).searchParams.get('SAMLRequest') ?? '';
