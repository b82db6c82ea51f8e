import { encrypt } from 'xml-encryption';
import type { SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { answerXml, arrive, beginSaml, type SamlAttempt } from '../support/saml.ts';
import { evilName, wrap, wrappings } from '../support/saml-wrapping.ts';
import { backends } from '../support/stores.ts';
import { setUpSamlFromOutside } from './saml-outside-steps.ts';

const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
const aes256 = 'http://www.w3.org/2009/xmlenc11#aes256-gcm';
const oaep = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p';

describe.each(backends)('SAML answers from outside, on $name', (backend) => {
  const context = setUpSamlFromOutside(backend);
  const { isSignedIn, expectRefused } = context;

  describe('an encrypted assertion, which an attacker can make with Foyer’s certificate', () => {
    let people = 0;
    const usual = (): SamlResponseOptions => {
      people += 1;
      const who = { nameId: `sealed-${people}`, attributes: { mail: `sealed-${people}@sealed.example` } };
      return { issuer: 'https://sealed.example', ...who };
    };
    const begin = () => beginSaml(context.foyer, { provider: 'sealed' });
    const encryptFor = () => context.providers.serviceProvider.certificate;
    /** Encrypts a text for Foyer. @param algorithms as an attacker wants them */
    const sealed = (text: string, algorithms: { encryptionAlgorithm?: string; keyEncryptionAlgorithm?: string } = {}) =>
      new Promise<string>((resolve, reject) => {
        const rsa_pub = context.providers.serviceProvider.certificate;
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
    /** An answer with this text in place of its assertion. */
    async function answered(attempt: SamlAttempt, assertion: string) {
      return answerXml(context.providers, attempt, { ...usual(), sign: 'none', assertion });
    }

    it('An encrypted assertion of the provider signs in', async () => {
      const attempt = await begin();
      await arrive(
        context.foyer,
        attempt,
        await answerXml(context.providers, attempt, { ...usual(), encryptFor: encryptFor() }),
      );
      expect(await isSignedIn(attempt.browser)).toBe(true);
      const again = await begin();
      const plain = await answerXml(context.providers, again, { ...usual(), sign: 'assertion' });
      await arrive(context.foyer, again, await answered(again, await sealed(assertionIn(plain))));
      expect(await isSignedIn(again.browser)).toBe(true);
    });

    it.each(Object.keys(wrappings).filter((shape) => !/XSW [12]$/.test(shape)) as (keyof typeof wrappings)[])(
      'An assertion that was wrapped before it was encrypted is refused: %s',
      async (shape) => {
        const attempt = await begin();
        const plain = await answerXml(context.providers, attempt, { ...usual(), sign: 'assertion' });
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
      const plain = assertionIn(await answerXml(context.providers, attempt, { ...usual(), sign: 'assertion' }));
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
        const plain = assertionIn(await answerXml(context.providers, attempt, { ...usual(), sign: 'assertion' }));
        const text = wrong(plain);
        if (text === '') await expectRefused(attempt, await answered(attempt, '<saml:EncryptedAssertion/>'), /./);
        else await expectRefused(attempt, await answered(attempt, await sealed(text)), /./);
      }
    });

    it('A cipher text that was changed or cut off is refused', async () => {
      for (const at of [0.1, 0.5, 0.9]) {
        const attempt = await begin();
        const xml = await answerXml(context.providers, attempt, {
          ...usual(),
          sign: 'assertion',
          encryptFor: encryptFor(),
        });
        const values = [...xml.matchAll(/<e:CipherValue>([^<]+)<|<xenc:CipherValue>([^<]+)</g)];
        const value = values.at(-1)?.slice(1).find(Boolean) ?? '';
        const index = Math.floor(value.length * at);
        const flipped = `${value.slice(0, index)}${value[index] === 'A' ? 'B' : 'A'}${value.slice(index + 1)}`;
        expect(value.length).toBeGreaterThan(1_000);
        await expectRefused(attempt, xml.replace(value, flipped), 'the assertion cannot be decrypted');
        const cut = await begin();
        const whole = await answerXml(context.providers, cut, {
          ...usual(),
          sign: 'assertion',
          encryptFor: encryptFor(),
        });
        await expectRefused(cut, whole.replace(/([A-Za-z0-9+/]{64})(=*<\/\w+:CipherValue>)/, '$2'), /./);
      }
    });

    it.each([
      ['RSA with the padding of PKCS #1 1.5', { keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5' }],
      ['triple DES', { encryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc' }],
    ])('An assertion that is encrypted by %s is refused', async (_what, algorithms) => {
      const attempt = await begin();
      const plain = assertionIn(await answerXml(context.providers, attempt, { ...usual(), sign: 'assertion' }));
      const xml = await answered(attempt, await sealed(plain, algorithms));
      await expectRefused(attempt, xml, 'the assertion is encrypted in a way that is not accepted');
    });

    it('An assertion that is encrypted for another key is refused', async () => {
      const attempt = await begin();
      const certificate = context.providers.otherSigner().certificate;
      const xml = await answerXml(context.providers, attempt, {
        ...usual(),
        sign: 'assertion',
        encryptFor: certificate,
      });
      await expectRefused(attempt, xml, 'the assertion cannot be decrypted');
    });
  });
});
