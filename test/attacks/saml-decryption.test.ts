import { ExclusiveCanonicalization } from 'xml-crypto';
import type { SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { answerXml, arrive, beginSaml, federationLog, type SamlAttempt } from '../support/saml.ts';
import { type ContentCipher, contentCiphers, type Sealing, seal } from '../support/saml-encryption.ts';
import { evilName, wrap, wrappings } from '../support/saml-wrapping.ts';
import { anyBackend } from '../support/stores.ts';
import { setUpSamlFromOutside } from './saml-outside-steps.ts';

const ciphers = Object.keys(contentCiphers) as ContentCipher[];
const gcm = ciphers.filter((name) => name.endsWith('gcm'));
const flipped = (at: number) => (bytes: Buffer) => {
  const index = at < 0 ? bytes.length + at : Math.floor(bytes.length * at);
  const other = Buffer.from(bytes);
  other[index] = (other[index] ?? 0) ^ 1;
  return other;
};
const cut = (count: number) => (bytes: Buffer) => bytes.subarray(0, Math.max(0, bytes.length - count));
const undecipherable = 'the assertion cannot be decrypted';

describe.each([anyBackend])('decryption of SAML assertions, attacked', (backend) => {
  const context = setUpSamlFromOutside(backend);
  const { expectRefused, isSignedIn } = context;
  const ours = () => ({ for: context.providers.serviceProvider.certificate });
  const begin = () => beginSaml(context.foyer, { provider: 'sealed' });
  let people = 0;
  const usual = (): SamlResponseOptions => {
    people += 1;
    const who = { nameId: `sealed-${people}`, attributes: { mail: `sealed-${people}@sealed.example` } };
    return { issuer: 'https://sealed.example', ...who };
  };
  const inside = (xml: string) => /<\/samlp:Status>(.*)<\/samlp:Response>/s.exec(xml)?.[1] ?? '';
  /** The provider's signed assertion for an attempt. */
  const assertionFor = async (attempt: SamlAttempt, change: SamlResponseOptions = {}) =>
    inside(await answerXml(context.providers, attempt, { ...usual(), sign: 'assertion', ...change }));
  const answerWith = (attempt: SamlAttempt, assertion: string) =>
    answerXml(context.providers, attempt, { ...usual(), sign: 'none', assertion });
  /** An answer with the provider's assertion in an encryption of the attacker. */
  async function sealedAnswer(attempt: SamlAttempt, sealing: Partial<Sealing>, change?: (assertion: string) => string) {
    const assertion = await assertionFor(attempt);
    return answerWith(attempt, seal(change?.(assertion) ?? assertion, { ...ours(), ...sealing }));
  }
  async function refused(sealing: Partial<Sealing>, detail: string | RegExp, change?: (assertion: string) => string) {
    const attempt = await begin();
    await expectRefused(attempt, await sealedAnswer(attempt, sealing, change), detail);
  }

  it.each(ciphers)('Attack: a modified cipher text of %s is refused', async (cipher) => {
    for (const at of [0, 0.1, 0.5, 0.9]) await refused({ cipher, changeData: flipped(at) }, /./);
  });

  it.each(gcm)('Attack: a modified tag of %s is refused', async (cipher) => {
    for (const at of [-1, -16]) await refused({ cipher, changeData: flipped(at) }, undecipherable);
  });

  it.each(ciphers)('Attack: a truncated cipher text of %s is refused', async (cipher) => {
    for (const count of [1, 16, 32, 1_000]) await refused({ cipher, changeData: cut(count) }, undecipherable);
    for (const left of [1, 12, 16, 27, 28, 32])
      await refused({ cipher, changeData: (bytes) => bytes.subarray(0, left) }, undecipherable);
    await refused({ cipher, changeData: cut(Number.POSITIVE_INFINITY) }, 'a CipherValue is not in base64');
  });

  it('Attack: an assertion that is encrypted with a wrong key is refused', async () => {
    const certificate = context.providers.otherSigner().certificate;
    for (const form of ['1.0', '1.1'] as const) await refused({ for: certificate, form }, undecipherable);
    for (const changeKey of [flipped(0.5), cut(1), (bytes: Buffer) => Buffer.concat([bytes, bytes])])
      await refused({ changeKey }, undecipherable);
  });

  it('Attack: a key that is encrypted with RSA PKCS #1 1.5, which tells what is inside, is refused unread', async () => {
    const unaccepted = 'the assertion is encrypted in a way that is not accepted';
    await refused({ form: 'pkcs1' }, unaccepted);
    await refused({ form: 'pkcs1', changeKey: flipped(0.5) }, unaccepted);
    await refused({ form: 'pkcs1', digest: 'sha256', mask: 'sha256' }, unaccepted);
    const [oaep, renamed] = [/xmlenc11#rsa-oaep"/, 'xmlenc11#rsa-1_5"'];
    await refused({ change: (xml) => xml.replace(oaep, renamed) }, unaccepted);
  });

  it('Attack: an unknown digest, MGF or cipher is refused, and never replaced by a usual one', async () => {
    const unaccepted = 'the assertion is encrypted in a way that is not accepted';
    const changes: [Partial<Sealing>, string, string][] = [
      [{ digest: 'sha1' }, 'xmldsig#sha1"', 'xmldsig#md5"'],
      [{ mask: 'sha1' }, 'xmlenc11#mgf1sha1"', 'xmlenc11#mgf1md5"'],
      [{ form: '1.0', mask: 'sha1' }, 'MGF ', 'MGF '],
      [{}, 'xmlenc11#aes256-gcm"', 'xmlenc#tripledes-cbc"'],
      [{}, 'xmlenc11#aes256-gcm"', 'xmlenc11#constructor"'],
      [{}, 'http://www.w3.org/2009/xmlenc11#aes256-gcm"', 'constructor"'],
      [{ digest: 'sha1' }, 'http://www.w3.org/2000/09/xmldsig#sha1"', 'constructor"'],
    ];
    for (const [sealing, from, to] of changes)
      await refused({ ...sealing, change: (xml) => xml.replace(from, to) }, unaccepted);
  });

  const failures: Record<string, Partial<Sealing>> = {
    'a wrong key': { changeKey: flipped(0.5) },
    'a key of another length': { changeKey: cut(1) },
    'another digest': { digest: 'sha256', change: (xml) => xml.replace('xmlenc#sha256"', 'xmlenc#sha512"') },
    'a modified tag': { changeData: flipped(-1) },
    'padding of no byte': { cipher: 'aes-128-cbc', paddingLength: 0 },
    'padding of 17 bytes': { cipher: 'aes-128-cbc', paddingLength: 17 },
    'padding of 255 bytes': { cipher: 'aes-256-cbc', paddingLength: 255 },
    'half a block': { cipher: 'aes-256-cbc', changeData: cut(8) },
  };

  it('Attack: a padding oracle by words learns nothing, because every failure has one answer and one line in the log', async () => {
    const seen: unknown[] = [];
    for (const sealing of Object.values(failures)) {
      const attempt = await begin();
      const to = await arrive(context.foyer, attempt, await sealedAnswer(attempt, sealing));
      const page = await attempt.browser.get(to);
      const { outcome, detail } = federationLog(context.foyer).at(-1) ?? {};
      seen.push({ to, status: page.status, outcome, detail });
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(seen[0]).toMatchObject({ outcome: 'invalid', detail: undecipherable });
    // The answer to a forged assertion that can be decrypted is the same, too.
    const attempt = await begin();
    const forged = await sealedAnswer(attempt, {}, (assertion) => assertion.replace('sealed-', 'other-'));
    expect({ ...(seen[0] as object), to: await arrive(context.foyer, attempt, forged) }).toEqual(seen[0]);
  });

  it('Attack: a padding oracle by time learns nothing, because every failure takes the path of a changed assertion', async () => {
    const steps = jest.spyOn(ExclusiveCanonicalization.prototype, 'process');
    const stepsOf = async (sealing: Partial<Sealing>, change?: (assertion: string) => string) => {
      const attempt = await begin();
      const xml = await sealedAnswer(attempt, sealing, change);
      steps.mockClear();
      await arrive(context.foyer, attempt, xml);
      return steps.mock.calls.length;
    };
    const changed = await stepsOf({ cipher: 'aes-128-cbc' }, (assertion) => assertion.replace('sealed-', 'other-'));
    expect(changed).toBeGreaterThan(1);
    for (const [name, sealing] of Object.entries(failures))
      expect([name, await stepsOf(sealing)]).toEqual([name, changed]);
    const unsigned = (assertion: string) => assertion.replace(/<ds:Signature[ >].*<\/ds:Signature>/s, '');
    for (const other of [() => 'no XML', () => '<a/>', unsigned])
      expect(await stepsOf({ cipher: 'aes-128-cbc' }, other)).toBe(changed);
    expect(await stepsOf({ cipher: 'aes-128-cbc', changeData: flipped(0.5) })).toBe(changed);
    steps.mockRestore();
  });

  it.each(Object.keys(wrappings).filter((shape) => !/XSW [12]$/.test(shape)) as (keyof typeof wrappings)[])(
    'Attack: signature wrapping inside the decrypted assertion is refused: %s',
    async (shape) => {
      const attempt = await begin();
      const wrapped = wrap(await answerXml(context.providers, attempt, { ...usual(), sign: 'assertion' }), shape);
      expect(inside(wrapped)).toContain(evilName);
      const sealed = seal(inside(wrapped), { ...ours(), digest: 'sha256', mask: 'sha256' });
      await expectRefused(attempt, await answerWith(attempt, sealed), /./);
    },
  );

  it('Attack: an assertion for another service, encrypted anew for Foyer, is refused', async () => {
    const attempt = await begin();
    const theirs = await assertionFor(attempt, { audience: 'https://another-app.example/metadata' });
    const xml = await answerWith(attempt, seal(theirs, ours()));
    await expectRefused(attempt, xml, 'the assertion is for another audience');
  });

  it('Attack: an encrypted assertion of another attempt or person is refused in this one', async () => {
    const [attempt, other] = [await begin(), await begin()];
    const sealed = seal(await assertionFor(other), ours());
    await expectRefused(
      attempt,
      await answerWith(attempt, sealed),
      'the confirmation of the subject does not answer the request of this attempt',
    );
  });

  it('Attack: a huge cipher text, key or label is refused by its length', async () => {
    const long = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(120_000)]);
    await refused({ changeData: long }, 'the message is too long');
    await refused({ label: 'x'.repeat(50_000) }, 'the assertion is encrypted in a way that is not accepted');
    await refused({ changeKey: (bytes) => Buffer.concat([bytes, Buffer.alloc(50_000)]) }, undecipherable);
    const many = '<saml:Attribute Name="a"/>'.repeat(400);
    await refused({}, 'the message has too many elements', (assertion) =>
      assertion.replace('<saml:AttributeStatement>', `<saml:AttributeStatement>${many}`),
    );
  });

  it('Attack: an external CipherReference, key or entity is refused, and nothing is fetched', async () => {
    const address = `${context.providers.url}/secret`;
    const before = context.providers.exchanges.length;
    const reference = `<xenc:CipherReference URI="${address}"/>`;
    const values = /<xenc:CipherValue>[^<]*<\/xenc:CipherValue>/g;
    await refused({ change: (xml) => xml.replace(values, reference) }, 'CipherData has no CipherValue');
    const retrieved = (xml: string) =>
      xml.replace(/<xenc:EncryptedKey .*<\/xenc:EncryptedKey>/s, `<ds:RetrievalMethod URI="${address}"/>`);
    await refused({ change: retrieved }, 'EncryptedData has no EncryptedKey for Foyer');
    const entity = (assertion: string) =>
      `<!DOCTYPE a [<!ENTITY x SYSTEM "${address}">]>${assertion.replace('sealed-', '&x;sealed-')}`;
    await refused({}, 'the message has a document type', entity);
    expect(context.providers.exchanges).toHaveLength(before);
  });

  it('Attack: a second EncryptedAssertion, EncryptedData, EncryptedKey or CipherValue is refused', async () => {
    const attempt = await begin();
    const [first, second] = [await assertionFor(attempt), await assertionFor(attempt)].map((text) =>
      seal(text, ours()),
    );
    const both = (first ?? '') + (second ?? '').replace(' Id="_key"', '');
    await expectRefused(attempt, await answerWith(attempt, both), 'the response has more than one assertion');
    const twice = (name: string) => (xml: string) => {
      const [element = ''] = new RegExp(`<xenc:${name}[ >].*?</xenc:${name}>`, 's').exec(xml) ?? [];
      return xml.replace(element, element + element.replace(' Id="_key"', ''));
    };
    for (const [name, detail] of [
      ['EncryptedData', 'EncryptedAssertion has more than one EncryptedData'],
      ['EncryptedKey', 'EncryptedData has no EncryptedKey for Foyer'],
      ['CipherValue', 'CipherData has more than one CipherValue'],
    ] as const)
      await refused({ change: twice(name) }, detail);
  });

  it('An assertion in the attacker’s own forms signs in when nothing is wrong with it', async () => {
    const attempt = await begin();
    await arrive(context.foyer, attempt, await sealedAnswer(attempt, { cipher: 'aes-128-cbc' }));
    expect(await isSignedIn(attempt.browser)).toBe(true);
  });
});
