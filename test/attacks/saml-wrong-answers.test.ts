import type { SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import { evilAddress } from '../support/saml-wrapping.ts';
import { anyBackend } from '../support/stores.ts';
import { setUpSaml } from './saml-steps.ts';

const minuteMs = 60_000;
const elsewhere = 'https://another-app.example/acs';

describe.each([anyBackend])('a wrong SAML answer', (backend) => {
  const context = setUpSaml(backend);
  const { isSignedIn, expectRefused, changed } = context;
  const now = Date.now;
  const expired = { notOnOrAfterMs: now() - minuteMs };
  const cases: [string, string, () => SamlResponseOptions][] = [
    ['without a signature', 'the assertion is not signed by this provider', () => ({ sign: 'none' })],
    [
      'with a signature that leaves out the assertion',
      'the assertion is not signed by this provider',
      () => ({ sign: 'response' }),
    ],
    [
      'with the signature of another provider',
      'the assertion is not signed by this provider',
      () => ({ signer: context.providers.otherSigner() }),
    ],
    [
      'that was changed after it was signed',
      'the assertion is not signed by this provider',
      () => ({ sign: 'assertion', afterSigning: changed('</saml:NameID>', 'x</saml:NameID>') }),
    ],
    [
      'that got an attribute after it was signed',
      'the assertion is not signed by this provider',
      () => ({
        sign: 'assertion',
        afterSigning: changed(
          '<saml:AttributeStatement>',
          `<saml:AttributeStatement><saml:Attribute Name="mail"><saml:AttributeValue>${evilAddress}</saml:AttributeValue></saml:Attribute>`,
        ),
      }),
    ],
    [
      'with a signature by SHA-1',
      'a signature has a SignatureMethod that is not accepted',
      () => ({ signatureAlgorithm: 'rsa-sha1' }),
    ],
    [
      'with a signature by a public secret (HMAC)',
      'a signature has a SignatureMethod that is not accepted',
      () => ({
        afterSigning: changed(
          /SignatureMethod Algorithm="[^"]+"/g,
          'SignatureMethod Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1"',
        ),
      }),
    ],
    [
      'with a style sheet in its signature',
      'a signature has a Transform that is not accepted',
      () => ({
        sign: 'assertion',
        afterSigning: changed(
          'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
          'http://www.w3.org/TR/1999/REC-xslt-19991116',
        ),
      }),
    ],
    [
      'with its signature beside the assertion',
      'a signature signs another element',
      () => ({
        sign: 'assertion',
        afterSigning: (xml) => {
          const [signature = ''] = /<ds:Signature .*?<\/ds:Signature>/s.exec(xml) ?? [];
          return xml.replace(signature, '').replace('<samlp:Status>', `${signature}<samlp:Status>`);
        },
      }),
    ],
    ['for another audience', 'the assertion is for another audience', () => ({ audience: elsewhere })],
    ['for no audience', 'the assertion is for no audience', () => ({ audience: null })],
    ['for another recipient', 'the recipient is another address than this one', () => ({ recipient: elsewhere })],
    ['for no recipient', 'the confirmation of the subject has no recipient', () => ({ recipient: null })],
    ['for another destination', 'the destination is another address than this one', () => ({ destination: elsewhere })],
    [
      'from another issuer',
      'the issuer of the response is not this provider',
      () => ({ issuer: 'https://another-app.example' }),
    ],
    [
      'with an assertion of another issuer',
      'the issuer of the assertion is not this provider',
      () => ({ assertionIssuer: 'https://another-app.example' }),
    ],
    ['with an assertion without an issuer', 'Assertion has no Issuer', () => ({ assertionIssuer: null })],
    ['that has expired', 'the confirmation of the subject has expired', () => expired],
    [
      'with an expired assertion and a valid confirmation',
      'the assertion has expired',
      () => ({ ...expired, subjectNotOnOrAfterMs: now() + minuteMs }),
    ],
    [
      'with an expired confirmation',
      'the confirmation of the subject has expired',
      () => ({ subjectNotOnOrAfterMs: now() - minuteMs }),
    ],
    ['without an expiry', 'the confirmation of the subject never ends', () => ({ notOnOrAfterMs: null })],
    ['that is not valid yet', 'the assertion is not valid yet', () => ({ notBeforeMs: now() + 2 * minuteMs })],
    ['from the future', 'the assertion was issued in the future', () => ({ issuedAtMs: now() + 2 * minuteMs })],
    [
      'that was issued long ago',
      'the assertion has expired: it was issued long ago',
      () => ({ issuedAtMs: now() - 60 * minuteMs }),
    ],
    ['without a subject', 'Subject has no NameID', () => ({ nameId: null })],
    ['without an assertion', 'the response has no assertion', () => ({ assertion: '' })],
    ['that is no XML', 'the message is no XML', () => ({ afterSigning: () => 'this is no XML' })],
    [
      'of endless depth',
      'the message is too deep',
      () => ({ afterSigning: () => '<a>'.repeat(200) + '</a>'.repeat(200) }),
    ],
    [
      'with 10,000 elements',
      'the message has too many elements',
      () => ({ afterSigning: changed('<samlp:Status>', `${'<a/>'.repeat(10_000)}<samlp:Status>`) }),
    ],
    [
      'with 1,000 elements',
      'the message has too many elements',
      () => ({ afterSigning: changed('<samlp:Status>', `${'<a/>'.repeat(1_000)}<samlp:Status>`) }),
    ],
    [
      'with too many attributes',
      'the message has too many attributes',
      () => {
        const many = Array.from({ length: 2_000 }, (_, n) => `a${n}=''`).join(' ');
        return { afterSigning: changed('<samlp:Status>', `<a ${many}/><samlp:Status>`) };
      },
    ],
    [
      'of SAML 1.1',
      'the response is not of SAML 2.0',
      () => ({ responseBeforeSigning: changed('Version="2.0"', 'Version="1.1"') }),
    ],
    [
      'that is another kind of message',
      'the message is no response',
      () => ({ afterSigning: (xml) => xml.replaceAll('samlp:Response', 'samlp:Request') }),
    ],
    [
      'to another request',
      'the response does not answer the request of this attempt',
      () => ({ inResponseTo: '_another' }),
    ],
    ['to no request', 'the response does not answer the request of this attempt', () => ({ inResponseTo: null })],
    [
      'with an assertion for another request',
      'the confirmation of the subject does not answer the request of this attempt',
      () => ({ subjectInResponseTo: '_another' }),
    ],
    [
      'with an assertion for no request',
      'the confirmation of the subject does not answer the request of this attempt',
      () => ({ subjectInResponseTo: null }),
    ],
    [
      'that is confirmed for the holder of a key',
      'the subject is not confirmed for a bearer',
      () => ({ assertionBeforeSigning: changed('cm:bearer', 'cm:holder-of-key') }),
    ],
    [
      'with a NameID that a comment cuts short',
      'the message has a comment',
      () => ({ afterSigning: changed('</saml:NameID>', '<!-- -->.evil</saml:NameID>') }),
    ],
    [
      'with a comment in its NameID that was signed',
      'the message has a comment',
      () => ({ assertionBeforeSigning: changed('</saml:NameID>', '<!-- -->.evil</saml:NameID>') }),
    ],
    [
      'with a NameID in a section of its own',
      'the message has a CDATA section',
      () => ({ afterSigning: changed('</saml:NameID>', '<![CDATA[x]]></saml:NameID>') }),
    ],
    [
      'with an instruction to the parser',
      'the message has a processing instruction',
      () => ({ afterSigning: changed('</saml:NameID>', '<?x y?></saml:NameID>') }),
    ],
    [
      'with an external entity (XXE)',
      'the message has a document type',
      () => ({
        prolog: '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        afterSigning: changed('</saml:NameID>', '&x;</saml:NameID>'),
      }),
    ],
    [
      'with an external document type',
      'the message has a document type',
      () => ({ prolog: `<?xml version="1.0"?><!DOCTYPE a SYSTEM "${elsewhere}">` }),
    ],
    [
      'with entities that expand a billion times',
      'the message has a document type',
      () => {
        const entity = (level: number) => `<!ENTITY e${level} "${`&e${level - 1};`.repeat(10)}">`;
        const entities = Array.from({ length: 9 }, (_, index) => entity(index + 1)).join('');
        return {
          prolog: `<!DOCTYPE a [<!ENTITY e0 "ha">${entities}]>`,
          afterSigning: changed('</saml:NameID>', '&e9;</saml:NameID>'),
        };
      },
    ],
  ];

  it('A right SAML answer, from which each wrong one differs in one way, signs the user in', async () => {
    // Each wrong answer below differs from this one in one thing.
    for (const sign of ['both', 'assertion'] as const) {
      const attempt = await beginSaml(context.foyer);
      const xml = await answerXml(context.providers, attempt, {
        sign,
        nameId: `control-${sign}`,
        attributes: { mail: `control-${sign}@corp.acme.example` },
      });
      await arrive(context.foyer, attempt, xml);
      expect([sign, await isSignedIn(attempt)]).toEqual([sign, true]);
    }
  });

  it.each(cases)('A SAML answer %s is refused', async (_what, detail, change) => {
    const attempt = await beginSaml(context.foyer);
    const to = await arrive(context.foyer, attempt, await answerXml(context.providers, attempt, change()));
    await expectRefused(attempt, to, 'invalid', detail);
  });
});
