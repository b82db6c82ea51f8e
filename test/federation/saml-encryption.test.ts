import { buildLogoutRequest, redirectAddress, signElement } from '../../sandbox/providers/index.ts';
import { setUpSamlFromOutside } from '../attacks/saml-outside-steps.ts';
import { answerXml, arrive, beginSaml, federationLog, inBase64, postFromElsewhere } from '../support/saml.ts';
import {
  type ContentCipher,
  contentCiphers,
  type OaepDigest,
  oaepDigests,
  type Sealing,
  seal,
} from '../support/saml-encryption.ts';
import { anyBackend } from '../support/stores.ts';

const digests = Object.keys(oaepDigests) as OaepDigest[];

describe.each([anyBackend])('SAML encryption, as products do it', (backend) => {
  const context = setUpSamlFromOutside(backend);
  const { isSignedIn } = context;
  let people = 0;
  const sealedFor = () => ({ for: context.providers.serviceProvider.certificate });

  /** A sign-in by a provider that encrypts in this way. */
  async function signIn(sealing: Omit<Sealing, 'for'>) {
    people += 1;
    const who = { nameId: `sealed-${people}`, attributes: { mail: `sealed-${people}@sealed.example` } };
    const attempt = await beginSaml(context.foyer, { provider: 'sealed' });
    const change = { issuer: 'https://sealed.example', ...who };
    const plain = await answerXml(context.providers, attempt, { ...change, sign: 'assertion' });
    const assertion = /<saml:Assertion .*<\/saml:Assertion>/s.exec(plain)?.[0] ?? '';
    const sealed = seal(assertion, { ...sealedFor(), ...sealing });
    const xml = await answerXml(context.providers, attempt, { ...change, sign: 'none', assertion: sealed });
    await arrive(context.foyer, attempt, xml);
    return isSignedIn(attempt.browser);
  }

  it.each(digests.flatMap((digest) => digests.map((mask) => [digest, mask] as const)))(
    'An assertion whose key is encrypted with RSA-OAEP of XML Encryption 1.1, digest %s and MGF1 with %s, signs in',
    async (digest, mask) => {
      expect(await signIn({ form: '1.1', digest, mask })).toBe(true);
    },
  );

  it.each(digests)(
    'An assertion whose key is encrypted with RSA-OAEP of XML Encryption 1.0 and digest %s signs in',
    async (digest) => {
      expect(await signIn({ form: '1.0', digest })).toBe(true);
    },
  );

  it.each(Object.keys(contentCiphers) as ContentCipher[])(
    'An assertion that is encrypted with %s signs in',
    async (cipher) => {
      expect(await signIn({ cipher, digest: 'sha256', mask: 'sha256' })).toBe(true);
    },
  );

  it('A key that stands beside the data, or has a label or no named digest, is used', async () => {
    expect(await signIn({ keyAt: 'beside' })).toBe(true);
    expect(await signIn({ label: 'of the provider', digest: 'sha256' })).toBe(true);
    expect(await signIn({ form: '1.0' })).toBe(true);
  });

  it('Among keys for several recipients the one for Foyer is used', async () => {
    const ours = `${context.foyer.url}/federation/sealed/metadata`;
    const other = (recipient: string) => (xml: string) =>
      xml.replace(
        /<xenc:EncryptedKey Id="_key">(.*)<\/xenc:EncryptedKey>/s,
        (_whole, key: string) =>
          `<xenc:EncryptedKey Recipient="https://another.example">${key.replace(/Value>[^<]+/, 'Value>AAAA')}</xenc:EncryptedKey>` +
          `<xenc:EncryptedKey Recipient="${recipient}">${key}</xenc:EncryptedKey>`,
      );
    expect(await signIn({ change: other(ours) })).toBe(true);
    expect(await signIn({ change: other('https://a-third.example') })).toBe(false);
    expect(federationLog(context.foyer).at(-1)?.detail).toBe('EncryptedData has no EncryptedKey for Foyer');
  });

  it('The metadata name the algorithms for encryption that products choose from', async () => {
    const text = await (await context.foyer.browser().get('/federation/sealed/metadata')).text();
    const named = [...text.matchAll(/EncryptionMethod Algorithm="[^"#]+#([^"]+)"/g)].map(([, name]) => name);
    expect(named).toEqual(['aes256-gcm', 'aes192-gcm', 'aes128-gcm', 'rsa-oaep-mgf1p', 'rsa-oaep']);
  });

  describe('an encrypted NameID', () => {
    const encryptedId = (nameId: string, sealing: Partial<Sealing> = {}) => {
      const format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
      const name = `<saml:NameID xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" Format="${format}">${nameId}</saml:NameID>`;
      return seal(name, { ...sealedFor(), element: 'EncryptedID', ...sealing });
    };
    const withEncryptedId = (encrypted: string) => ({
      assertionBeforeSigning: (xml: string) => xml.replace(/<saml:NameID.*<\/saml:NameID>/s, encrypted),
    });
    const come = async (nameId: string, encrypted: string) => {
      const attempt = await beginSaml(context.foyer);
      const attributes = { mail: `${nameId}@corp.acme.example` };
      const xml = await answerXml(context.providers, attempt, {
        attributes,
        sessionIndex: '_s',
        ...withEncryptedId(encrypted),
      });
      await arrive(context.foyer, attempt, xml);
      return attempt.browser;
    };
    const identities = () => context.foyer.stores.database.db.selectFrom('federatedIdentities').select('subject');

    it('An encrypted NameID signs in as the plain one does, and the same member each time', async () => {
      for (const encrypted of [encryptedId('in-secret'), encryptedId('in-secret', { form: '1.0' })])
        expect(await isSignedIn(await come('in-secret', encrypted))).toBe(true);
      expect(await identities().where('subject', '=', 'in-secret').execute()).toHaveLength(1);
    });

    it.each(['GET', 'POST'])('A logout request by %s with an encrypted NameID ends the session', async (method) => {
      const nameId = `leaves-by-${method}`;
      const browser = await come(nameId, encryptedId(nameId));
      expect(await isSignedIn(browser)).toBe(true);
      const destination = `${context.foyer.url}/federation/acme-saml/logout`;
      const plain = buildLogoutRequest({
        issuer: context.providers.saml.entityId,
        destination,
        nameId,
        id: `_logout-${method}`,
      });
      const xml = plain.replace(/<saml:NameID.*<\/saml:NameID>/s, encryptedId(nameId));
      const signer = context.providers.samlSigner;
      const answer =
        method === 'GET'
          ? await context.foyer.browser().get(redirectAddress(destination, { message: 'SAMLRequest', xml, signer }))
          : await postFromElsewhere(context.foyer, '/federation/acme-saml/logout', {
              SAMLRequest: inBase64(signElement(xml, `_logout-${method}`, signer)),
            });
      expect(answer.status).toBe(303);
      expect(await isSignedIn(browser)).toBe(false);
    });

    it('An encrypted NameID that cannot be decrypted, beside a plain one, twice or around something else is refused', async () => {
      const good = encryptedId('of-one');
      const flipped = (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]);
      const cases: [string, string][] = [
        [encryptedId('of-one', { changeData: flipped }), 'the NameID cannot be decrypted'],
        [encryptedId('of-one', { for: context.providers.otherSigner().certificate }), 'the NameID cannot be decrypted'],
        [
          good + encryptedId('of-one', { change: (xml) => xml.replace(' Id="_key"', '') }),
          'Subject has more than one NameID',
        ],
        [`${good}<saml:NameID>of-another</saml:NameID>`, 'Subject has more than one NameID'],
        [seal('<a/>', { ...sealedFor(), element: 'EncryptedID' }), 'what is encrypted is no NameID'],
        [encryptedId('of-one', { form: 'pkcs1' }), 'the NameID is encrypted in a way that is not accepted'],
      ];
      for (const [encrypted, detail] of cases) {
        expect(await isSignedIn(await come('of-one', encrypted))).toBe(false);
        expect(federationLog(context.foyer).at(-1)).toMatchObject({ outcome: 'invalid', detail });
      }
      expect(await identities().where('subject', '=', 'of-one').execute()).toEqual([]);
    });
  });

  it('An encrypted attribute is refused, and the log says what to change', async () => {
    const attempt = await beginSaml(context.foyer);
    const xml = await answerXml(context.providers, attempt, {
      assertionBeforeSigning: (plain) =>
        plain.replace('</saml:AttributeStatement>', '<saml:EncryptedAttribute/></saml:AttributeStatement>'),
    });
    expect(await arrive(context.foyer, attempt, xml)).toContain('federation:invalid');
    expect(federationLog(context.foyer).at(-1)?.detail).toBe(
      'an attribute is encrypted, which is not supported: let the provider encrypt the assertion',
    );
  });
});
