import { encrypt } from 'xml-encryption';
import { parseSamlMessage, readRedirect, type SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { linksOf } from '../settings/provider-steps.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
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
import { evilName, wrap, wrappings } from '../support/saml-wrapping.ts';
import { backends } from '../support/stores.ts';

const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
const aes256 = 'http://www.w3.org/2009/xmlenc11#aes256-gcm';
const oaep = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p';

describe.each(backends)('SAML answers from outside, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, {
      GUESS_LIMIT_ADDRESS: '100000',
      SIGN_UP_LIMIT_ADDRESS: '100000',
      ...providers.environment((file) => ({
        ...file,
        providers: [
          ...file.providers,
          {
            ...(file.providers[1] as object),
            id: 'sealed',
            entityId: 'https://sealed.example',
            domains: ['sealed.example'],
            encryptedAssertions: true,
          },
        ],
      })),
    });
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const isSignedIn = async (browser: Browser) => (await browser.get('/')).status === 303;
  async function expectRefused(attempt: SamlAttempt, xml: string, detail: string | RegExp): Promise<void> {
    const to = await arrive(foyer, attempt, xml);
    expect(to).toContain('notice=federation-invalid');
    expect(federationLog(foyer).at(-1)?.detail).toMatch(detail);
    expect(await isSignedIn(attempt.browser)).toBe(false);
    const victim = foyer.stores.database.db.selectFrom('federated_identities').select('id');
    expect(await victim.where('subject', '=', evilName).execute()).toEqual([]);
  }

  describe('an encrypted assertion, which an attacker can make with Foyer’s certificate', () => {
    let people = 0;
    const usual = (): SamlResponseOptions => {
      people += 1;
      const who = { nameId: `sealed-${people}`, attributes: { mail: `sealed-${people}@sealed.example` } };
      return { issuer: 'https://sealed.example', ...who };
    };
    const begin = () => beginSaml(foyer, { provider: 'sealed' });
    const encryptFor = () => providers.serviceProvider.certificate;
    /** Encrypts a text for Foyer. @param algorithms as an attacker wants them */
    const sealed = (text: string, algorithms: { encryptionAlgorithm?: string; keyEncryptionAlgorithm?: string } = {}) =>
      new Promise<string>((resolve, reject) => {
        const rsa_pub = providers.serviceProvider.certificate;
        const options = { encryptionAlgorithm: aes256, keyEncryptionAlgorithm: oaep, ...algorithms };
        const more = {
          rsa_pub,
          pem: rsa_pub,
          disallowEncryptionWithInsecureAlgorithm: false,
          warnInsecureAlgorithm: false,
        };
        encrypt(text, { ...options, ...more } as never, (error, result) =>
          error
            ? reject(error)
            : resolve(
                `<saml:EncryptedAssertion xmlns:saml="${assertionNamespace}">${result}</saml:EncryptedAssertion>`,
              ),
        );
      });
    const assertionIn = (xml: string) => /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';
    /** An answer whose assertion is replaced by this. */
    async function answered(attempt: SamlAttempt, assertion: string) {
      return answerXml(providers, attempt, { ...usual(), sign: 'none', assertion });
    }

    it('An encrypted assertion of the provider signs in', async () => {
      const attempt = await begin();
      await arrive(foyer, attempt, await answerXml(providers, attempt, { ...usual(), encryptFor: encryptFor() }));
      expect(await isSignedIn(attempt.browser)).toBe(true);
      const again = await begin();
      const plain = await answerXml(providers, again, { ...usual(), sign: 'assertion' });
      await arrive(foyer, again, await answered(again, await sealed(assertionIn(plain))));
      expect(await isSignedIn(again.browser)).toBe(true);
    });

    it.each(Object.keys(wrappings).filter((shape) => !/XSW [12]$/.test(shape)) as (keyof typeof wrappings)[])(
      'An assertion that was wrapped before it was encrypted is refused: %s',
      async (shape) => {
        const attempt = await begin();
        const plain = await answerXml(providers, attempt, { ...usual(), sign: 'assertion' });
        const wrapped = wrap(plain, shape);
        expect(wrapped).toContain(evilName);
        const between = /<\/samlp:Status>(.*)<\/samlp:Response>/s.exec(wrapped)?.[1] ?? '';
        const first = between === '' ? assertionIn(wrapped) : between;
        expect(first).toContain(evilName);
        await expectRefused(attempt, await answered(attempt, await sealed(first)), /./);
      },
    );

    it('An encrypted assertion beside a plain one, twice, nested or hidden in the extensions is refused', async () => {
      const attempt = await begin();
      const plain = assertionIn(await answerXml(providers, attempt, { ...usual(), sign: 'assertion' }));
      const evil = plain.replace(/>sealed-\d+</, `>${evilName}<`);
      const [one, other] = [await sealed(plain), await sealed(evil)];
      const more = 'the response has more than one assertion';
      for (const assertion of [one + evil, evil + one, one + other, other + one]) {
        const wrong = await begin();
        await expectRefused(wrong, await answered(wrong, assertion), more);
      }
      const nested = `<saml:EncryptedAssertion xmlns:saml="${assertionNamespace}">${evil}${one}</saml:EncryptedAssertion>`;
      await expectRefused(attempt, await answered(attempt, nested), more);
      const hidden = await begin();
      const extended = (await answered(hidden, one)).replace(
        '<samlp:Status>',
        `<samlp:Extensions>${other}</samlp:Extensions><samlp:Status>`,
      );
      await expectRefused(hidden, extended, more);
    });

    it('A cipher text with two assertions or with none is refused', async () => {
      for (const wrong of [(plain: string) => plain + plain, () => '<a/>', () => 'no XML', () => '']) {
        const attempt = await begin();
        const plain = assertionIn(await answerXml(providers, attempt, { ...usual(), sign: 'assertion' }));
        const text = wrong(plain);
        if (text === '') await expectRefused(attempt, await answered(attempt, '<saml:EncryptedAssertion/>'), /./);
        else await expectRefused(attempt, await answered(attempt, await sealed(text)), /./);
      }
    });

    it('A cipher text that was changed or cut off is refused', async () => {
      for (const at of [0.1, 0.5, 0.9]) {
        const attempt = await begin();
        const xml = await answerXml(providers, attempt, { ...usual(), sign: 'assertion', encryptFor: encryptFor() });
        const values = [...xml.matchAll(/<e:CipherValue>([^<]+)<|<xenc:CipherValue>([^<]+)</g)];
        const value = values.at(-1)?.slice(1).find(Boolean) ?? '';
        const index = Math.floor(value.length * at);
        const flipped = `${value.slice(0, index)}${value[index] === 'A' ? 'B' : 'A'}${value.slice(index + 1)}`;
        expect(value.length).toBeGreaterThan(1_000);
        await expectRefused(attempt, xml.replace(value, flipped), 'the assertion cannot be decrypted');
        const cut = await begin();
        const whole = await answerXml(providers, cut, { ...usual(), sign: 'assertion', encryptFor: encryptFor() });
        await expectRefused(cut, whole.replace(/([A-Za-z0-9+/]{64})(=*<\/\w+:CipherValue>)/, '$2'), /./);
      }
    });

    it.each([
      ['RSA with the padding of PKCS #1 1.5', { keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5' }],
      ['triple DES', { encryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc' }],
    ])('An assertion that is encrypted by %s is refused', async (_what, algorithms) => {
      const attempt = await begin();
      const plain = assertionIn(await answerXml(providers, attempt, { ...usual(), sign: 'assertion' }));
      const xml = await answered(attempt, await sealed(plain, algorithms));
      await expectRefused(attempt, xml, 'the assertion is encrypted in a way that is not accepted');
    });

    it('An assertion that is encrypted for another key is refused', async () => {
      const attempt = await begin();
      const certificate = providers.otherSigner().certificate;
      const xml = await answerXml(providers, attempt, { ...usual(), sign: 'assertion', encryptFor: certificate });
      await expectRefused(attempt, xml, 'the assertion cannot be decrypted');
    });
  });

  describe('a message in another encoding', () => {
    const utf16 = (text: string, { bom, bigEndian }: { bom: boolean; bigEndian: boolean }) => {
      const bytes = Buffer.from(`${bom ? '\ufeff' : ''}${text}`, 'utf16le');
      return bigEndian ? bytes.swap16() : bytes;
    };
    it.each([
      ['UTF-16, little-endian, with a mark', { bom: true, bigEndian: false }],
      ['UTF-16, little-endian', { bom: false, bigEndian: false }],
      ['UTF-16, big-endian, with a mark', { bom: true, bigEndian: true }],
      ['UTF-16, big-endian', { bom: false, bigEndian: true }],
    ])('A message in %s is refused, with and without its declaration', async (_what, how) => {
      for (const declaration of ['', '<?xml version="1.0" encoding="UTF-16"?>']) {
        const attempt = await beginSaml(foyer);
        const xml = declaration + (await answerXml(providers, attempt));
        const { pathname } = new URL(attempt.request.acsUrl);
        const fields = { SAMLResponse: utf16(xml, how).toString('base64'), RelayState: attempt.relayState };
        const posted = await postFromElsewhere(foyer, pathname, fields);
        const to = pathOf(await attempt.browser.get(pathOf(posted), { from: 'cross-site' }));
        expect(to).toContain('notice=federation-invalid');
        expect(federationLog(foyer).at(-1)?.detail).toMatch(/^the message is no (text in UTF-8|XML)$/);
        expect(await isSignedIn(attempt.browser)).toBe(false);
      }
    });

    it.each(['UTF-16', 'utf-7', 'ISO-8859-1', 'cp037', 'UTF-8x'])(
      'A UTF-8 message that says it is %s is refused, because another reader would see another text',
      async (encoding) => {
        for (const quote of ['"', "'"]) {
          const attempt = await beginSaml(foyer);
          const xml = await answerXml(providers, attempt);
          const declared = `<?xml version="1.0" encoding=${quote}${encoding}${quote}?>${xml}`;
          await expectRefused(attempt, declared, 'the message says that it is in another encoding than UTF-8');
        }
      },
    );

    it.each(['UTF-8', 'utf-8'])('A UTF-8 message that says it is %s signs in', async (encoding) => {
      const attempt = await beginSaml(foyer);
      const nameId = encoding === 'UTF-8' ? 'declared-large' : 'declared-small';
      const who = { nameId, attributes: { mail: `${nameId}@corp.acme.example` } };
      const xml = await answerXml(providers, attempt, who);
      await arrive(foyer, attempt, `<?xml version="1.0" encoding="${encoding}"?>${xml}`);
      expect(await isSignedIn(attempt.browser)).toBe(true);
    });
  });

  it.each(['XSW 1', 'XSW 2', 'XSW 6'] as const)(
    'The wrapping %s is refused with every way of signing and as an unsolicited answer',
    async (shape) => {
      for (const sign of ['both', 'assertion', 'response'] as const) {
        const hasOne = shape === 'XSW 6' ? sign !== 'response' : sign !== 'assertion';
        if (!hasOne) continue;
        const attempt = await beginSaml(foyer);
        const wrapped = wrap(await answerXml(providers, attempt, { sign }), shape);
        await expectRefused(attempt, wrapped, 'the response has more than one assertion');
        const { pathname } = new URL(attempt.request.acsUrl);
        const unasked = await postFromElsewhere(foyer, pathname, { SAMLResponse: inBase64(wrapped) });
        expect(pathOf(unasked)).toContain('notice=federation-foreign');
      }
    },
  );

  describe('linking an account by SAML', () => {
    /** Of a member who has just signed in, as far as the provider. */
    async function linking(user = foyer.addUser()) {
      const member = await user;
      const browser = await foyer.signedIn(member);
      const url = await goingOnTo(await browser.post('/settings/providers/link?provider=acme-saml', {}));
      const message = parseSamlMessage(readRedirect(url.search)?.xml ?? '');
      const request = { id: message?.id ?? '', acsUrl: message?.acsUrl ?? '', app: message?.issuer ?? '' };
      return { user: member, browser, url, relayState: url.searchParams.get('RelayState') ?? '', request };
    }
    let people = 0;
    const person = () => {
      people += 1;
      return { nameId: `link-${people}`, attributes: { mail: `link-${people}@corp.acme.example` } };
    };
    const subjects = async (attempt: { user: { id: string } }) =>
      (await linksOf(foyer, attempt.user as never)).map(({ subject }) => subject);

    it('The right SAML answer links the account', async () => {
      const attempt = await linking();
      const who = person();
      expect(await arrive(foyer, attempt, await answerXml(providers, attempt, who))).toContain('notice=linked');
      expect(await subjects(attempt)).toEqual([who.nameId]);
      const again = await beginSaml(foyer);
      await arrive(foyer, again, await answerXml(providers, again, who));
      expect(await isSignedIn(again.browser)).toBe(true);
    });

    it('The answer of an attacker in the browser of a victim who is linking links nothing', async () => {
      const [attacker, victim] = [await linking(), await linking()];
      const evil = await answerXml(providers, attacker, person());
      // To the attempt of the attacker, in the browser of the victim.
      expect(await arrive(foyer, { ...attacker, browser: victim.browser }, evil)).toContain('federation-foreign');
      // To the attempt of the victim.
      expect(await arrive(foyer, victim, evil)).toContain('federation-invalid');
      expect([await subjects(attacker), await subjects(victim)]).toEqual([[], []]);
    });

    it('The stolen answer of a victim in the browser of an attacker links nothing', async () => {
      const [attacker, victim] = [await linking(), await linking()];
      const stolen = await answerXml(providers, victim, person());
      expect(await arrive(foyer, attacker, stolen)).toContain('federation-invalid');
      expect(await arrive(foyer, { ...victim, browser: attacker.browser }, stolen)).toContain('federation-foreign');
      expect([await subjects(attacker), await subjects(victim)]).toEqual([[], []]);
    });

    it('An answer to a sign-in does not link, an answer to a link does not sign in, and none is accepted twice', async () => {
      const attempt = await linking();
      const signIn = await beginSaml(foyer);
      const who = person();
      expect(await arrive(foyer, attempt, await answerXml(providers, signIn, who))).toContain('federation-invalid');
      expect(await arrive(foyer, signIn, await answerXml(providers, attempt, who))).toContain('federation-invalid');
      expect(await isSignedIn(signIn.browser)).toBe(false);
      const xml = await answerXml(providers, attempt, who);
      expect(await arrive(foyer, attempt, xml)).toContain('notice=linked');
      expect(await arrive(foyer, attempt, xml)).toContain('federation-over');
      expect(await subjects(attempt)).toEqual([who.nameId]);
    });

    it('An answer that is wrapped, changed or signed by a stranger links nothing', async () => {
      for (const forge of [
        async (attempt: SamlAttempt) => wrap(await answerXml(providers, attempt, person()), 'XSW 3'),
        async (attempt: SamlAttempt) =>
          (await answerXml(providers, attempt, person())).replace('</saml:NameID>', 'x</saml:NameID>'),
        (attempt: SamlAttempt) => answerXml(providers, attempt, { ...person(), signer: providers.otherSigner() }),
        (attempt: SamlAttempt) => answerXml(providers, attempt, { ...person(), sign: 'none' }),
      ]) {
        const attempt = await linking();
        expect(await arrive(foyer, attempt, await forge(attempt))).toContain('federation-invalid');
        expect(await subjects(attempt)).toEqual([]);
      }
    });

    it('A provider account that is linked to another user stays linked to that user', async () => {
      const [owner, thief] = [await linking(), await linking()];
      const who = person();
      await arrive(foyer, owner, await answerXml(providers, owner, who));
      expect(await arrive(foyer, thief, await answerXml(providers, thief, who))).toContain(
        'federation-linked-elsewhere',
      );
      expect([await subjects(owner), await subjects(thief)]).toEqual([[who.nameId], []]);
    });
  });
});
