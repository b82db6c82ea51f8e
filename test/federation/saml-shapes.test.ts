import { SAML } from '@node-saml/passport-saml';
import { SignedXml } from 'xml-crypto';
import { readAssertion } from '../../server/federation/saml/assertion.ts';
import { readSamlResponse } from '../../server/federation/saml/read-response.ts';
import { samlOptions, samlService } from '../../server/federation/saml/service.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { inBase64 } from '../support/saml.ts';
import { settingsOf } from './strategies.ts';

const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
const types = 'http://www.w3.org/2001/XMLSchema';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const c14n = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const request = { id: '_request', begunAtMs: Date.now() };

function changed(xml: string, from: string | RegExp, to: string): string {
  const other = xml.replace(from, to);
  if (other === xml) throw new Error(`nothing to change: ${from}`);
  return other;
}
const withValue = (xml: string, text: string) => changed(xml, /(<saml:AttributeValue[^>]*>)[^<]*/, `$1${text}`);
const withAttribute = (xml: string, attribute: string) => changed(xml, 'NameFormat="', `${attribute} NameFormat="`);
/** The prefix of the values' types is declared here in place of beside each value. */
const withTypesOn = (xml: string, element: string, namespace = types) =>
  changed(xml.replaceAll(` xmlns:xs="${types}"`, ''), `<${element} `, `<${element} xmlns:xs="${namespace}" `);
const withoutDeclaration = (xml: string) => changed(xml, /(<saml:Assertion) xmlns:saml="[^"]+"/, '$1');

/** Ways in which identity providers write the same answer. */
const shapes: Record<string, (xml: string) => string> = {
  'in the usual form': (xml) => xml,
  'with an XML declaration': (xml) => `<?xml version="1.0" encoding="UTF-8"?>\n${xml}\n`,
  'with the prefix of its assertion declared on the response alone': withoutDeclaration,
  'with an assertion in a default namespace of its own': (xml) =>
    changed(withoutDeclaration(xml).replaceAll('saml:', ''), '<Assertion ', `<Assertion xmlns="${assertionNamespace}" `)
      .replace('<Issuer>', '<saml:Issuer>')
      .replace('</Issuer>', '</saml:Issuer>'),
  'with an assertion in the default namespace of the response': (xml) =>
    changed(withoutDeclaration(xml).replaceAll('saml:', ''), 'xmlns:saml=', 'xmlns='),
  'with types declared on the response': (xml) => withTypesOn(xml, 'samlp:Response'),
  'with types declared on the assertion': (xml) => withTypesOn(xml, 'saml:Assertion'),
  'with a prefix that response and assertion declare differently': (xml) =>
    changed(withTypesOn(xml, 'saml:Assertion'), '<samlp:Response ', '<samlp:Response xmlns:xs="urn:other" '),
  'with a line for each element': (xml) => xml.replaceAll('><', '>\n  <'),
  'with the line ends of Windows': (xml) => xml.replaceAll('><', '>\r\n\t<'),
  'with references to characters': (xml) => withValue(xml, '&#38;&lt;&gt;&quot;&apos;&#x1F600;é'),
  'with a carriage return in a value': (xml) => withValue(xml, 'a&#13;&#10;b'),
  'with the line ends of Unicode in a value': (xml) => withValue(xml, 'a&#x85;b&#x2028;c'),
  'with white space in an attribute': (xml) => withAttribute(xml, 'FriendlyName="a&#9;b&#10;c&#13;d  e&#x85;"'),
  'with quotation marks in an attribute': (xml) => withAttribute(xml, `FriendlyName='"&lt;>&amp;'`),
  'with elements in a value': (xml) =>
    withValue(xml, '<saml:NameID Format="u"><x xmlns="v" b="" a="" xml:lang="en"><z xmlns=""/></x></saml:NameID>'),
};

const assertionAlone = 'the assertion alone';
const assertionAndResponse = 'assertion and response';
/** The elements with a signature. */
type Signed = typeof assertionAlone | typeof assertionAndResponse;

const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';

interface Signing {
  /** Of SignedInfo. */
  canonicalization?: string;
  prefix?: string;
  transforms?: string[];
  prefixes?: string[];
  prefixesOfSignedInfo?: string[];
  digest?: string;
  method?: string;
  last?: true;
}

/** Ways in which identity providers sign an answer. */
const signings: Record<string, Signing> = {
  'as SAML asks': {},
  'by a signature in a default namespace': { prefix: '' },
  'by a signature that stands last': { last: true, prefix: 'dsig' },
  'with SHA-512': {
    digest: 'http://www.w3.org/2001/04/xmlenc#sha512',
    method: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  },
  'with RSA-PSS': { method: 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1' },
  'with RSA-PSS and SHA-512': {
    digest: 'http://www.w3.org/2001/04/xmlenc#sha512',
    method: 'http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1',
  },
  'by inclusive canonicalization that it names': { transforms: [enveloped, inclusive] },
  'by inclusive canonicalization of SignedInfo, too': {
    transforms: [enveloped, inclusive],
    canonicalization: inclusive,
  },
  'with a canonicalization that keeps comments': { transforms: [enveloped, `${c14n}WithComments`] },
  'by inclusive canonicalization': { transforms: [enveloped] },
  'with a list of prefixes': { prefixes: ['xs'] },
  'with a list of other prefixes': { prefixes: ['ds', 'saml', 'samlp', 'xsi', 'unknown'] },
  'with a list of prefixes for SignedInfo, too': { prefixes: ['xs'], prefixesOfSignedInfo: ['xs'] },
};

describe('a SAML answer of the provider', () => {
  let providers: TestProviders;
  let service: ReturnType<typeof samlService>;
  beforeAll(async () => {
    providers = await startProviders();
    const settings = settingsOf(providers.environment());
    const [, config] = settings.file.providers;
    if (config?.kind !== 'saml') throw new Error('no SAML provider');
    service = samlService(settings, config);
  });
  afterAll(() => providers?.close());

  function signed(xml: string, id: string, signing: Signing): string {
    const signer = new SignedXml({
      privateKey: providers.samlSigner.privateKey,
      publicCert: providers.samlSigner.certificate,
      signatureAlgorithm: signing.method ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      canonicalizationAlgorithm: signing.canonicalization ?? c14n,
      inclusiveNamespacesPrefixList: signing.prefixesOfSignedInfo ?? [],
    });
    const element = `//*[@ID='${id}']`;
    signer.addReference({
      xpath: element,
      transforms: signing.transforms ?? [enveloped, c14n],
      inclusiveNamespacesPrefixList: signing.prefixes ?? [],
      digestAlgorithm: signing.digest ?? 'http://www.w3.org/2001/04/xmlenc#sha256',
    });
    const { prefix = 'ds' } = signing;
    signer.computeSignature(xml, {
      ...(prefix !== '' && { prefix }),
      location: signing.last
        ? { reference: element, action: 'append' }
        : { reference: `${element}/*[local-name(.)='Issuer']`, action: 'after' },
    });
    // The signer writes these characters unescaped, and a parser would read them as line feeds.
    return signer.getSignedXml().replace(/[\u0085\u2028]/g, (character) => `&#${character.charCodeAt(0)};`);
  }

  async function answer(shape: string, signing: string, where: Signed): Promise<string> {
    const app = { id: request.id, acsUrl: service.acs, app: service.entityId };
    const usual = providers.saml.usual(providers.people.saml.ada, app);
    const options = { ...usual, responseId: '_r', assertionId: '_a', sign: 'none' as const };
    const plain = shapes[shape]?.(await providers.samlResponse(options)) ?? '';
    const assertion = signed(plain, '_a', signings[signing] ?? {});
    return where === assertionAndResponse ? signed(assertion, '_r', signings[signing] ?? {}) : assertion;
  }

  const expected = () => ({
    audience: service.entityId,
    acs: service.acs,
    issuer: service.config.entityId,
    requestId: request.id,
    freshSinceMs: undefined,
    certificates: service.config.certificates,
    key: undefined,
    encryptedAssertions: false,
    nowMs: Date.now(),
    toleranceMs: 60_000,
  });
  const read = (xml: string) => readSamlResponse(service, { encoded: inBase64(xml), expected: expected(), request });
  /** Reads the whole answer with the library alone. */
  async function readByLibrary(xml: string) {
    const library = new SAML(samlOptions(service, request, false));
    const { profile } = await library.validatePostResponseAsync({ SAMLResponse: inBase64(xml) });
    return readAssertion(profile?.getAssertionXml?.() ?? '', expected());
  }
  /** The library looks for these prefixes around the first signature, whichever it verifies. */
  const isBeyondLibrary = (shape: string, signing: string, where: Signed) =>
    where === assertionAndResponse &&
    signing.includes('SignedInfo') &&
    (/on the assertion|differently/.test(shape) ||
      (signing.includes('inclusive') && /namespace of its own/.test(shape)));

  const cases = Object.keys(shapes).flatMap((shape) =>
    Object.keys(signings).flatMap((signing) =>
      ([assertionAndResponse, assertionAlone] as const).map((where) => [shape, signing, where] as const),
    ),
  );

  it.each(cases)('A response %s, signed %s on %s, is read as the library alone reads it', async (...one) => {
    const xml = await answer(...one);
    const assertion = await read(xml);
    expect(assertion.nameId).toMatch(/^_[0-9a-f]{40}$/);
    expect(assertion.attributes.size).toBe(3);
    if (isBeyondLibrary(...one)) await expect(readByLibrary(xml)).rejects.toThrow('Invalid signature');
    else expect(assertion).toEqual(await readByLibrary(xml));
  });

  it.each(cases.filter(([shape]) => shape === 'in the usual form'))(
    'A changed response %s, signed %s on %s, is refused before the library reads it',
    async (...one) => {
      const xml = await answer(...one);
      const library = jest.spyOn(SAML.prototype, 'validatePostResponseAsync');
      const changes = [changed(xml, '</saml:NameID>', 'x</saml:NameID>')];
      const [, , where] = one;
      if (where === assertionAndResponse) changes.push(changed(xml, '<samlp:Status>', '<samlp:Status><x/>'));
      for (const other of changes)
        await expect(read(other)).rejects.toMatchObject({ detail: 'the assertion is not signed by this provider' });
      expect(library).not.toHaveBeenCalled();
      await read(xml);
      expect(library).toHaveBeenCalledTimes(1);
      library.mockRestore();
    },
  );
});
