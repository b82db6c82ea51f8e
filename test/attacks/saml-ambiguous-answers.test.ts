import type { SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';
import { setUpSaml } from './saml-steps.ts';

/** Answers that two parsers could read differently. */
describe.each([anyBackend])('an ambiguous SAML answer', (backend) => {
  const context = setUpSaml(backend);
  const { changed, expectRefused } = context;

  /** A signature with a second SignedInfo. */
  const secondSignedInfo = (join: (info: string, forged: string) => string) => (xml: string) => {
    const [info = ''] = /<ds:SignedInfo.*?<\/ds:SignedInfo>/s.exec(xml) ?? [];
    const forged = info.replace(/<ds:DigestValue>[^<]*/, '<ds:DigestValue>AAAA');
    return changed(info, join(info, forged))(xml);
  };
  const withoutReference = (info: string) => info.replace(/<ds:Reference .*<\/ds:Reference>/s, '');
  const twoReferences = 'a signature does not sign one element';
  const twoInfos = 'Signature has more than one SignedInfo';
  const notSigned = 'the assertion is not signed by this provider';

  const cases: [string, string, SamlResponseOptions][] = [
    [
      'with a NUL in its NameID',
      'response without a subject',
      { assertionBeforeSigning: changed('</saml:NameID>', '\0.evil</saml:NameID>') },
    ],
    [
      'with a NUL by its number in its NameID',
      'response without a subject',
      { assertionBeforeSigning: changed('</saml:NameID>', '&#0;.evil</saml:NameID>') },
    ],
    [
      'with a NUL that came into its NameID after the signature',
      notSigned,
      { afterSigning: changed('</saml:NameID>', '\0.evil</saml:NameID>') },
    ],
    [
      'with a forged SignedInfo before the signed one',
      twoReferences,
      { afterSigning: secondSignedInfo((info, forged) => forged + info) },
    ],
    [
      'with a forged SignedInfo after the signed one',
      twoReferences,
      { afterSigning: secondSignedInfo((info, forged) => info + forged) },
    ],
    [
      'with the signed SignedInfo inside a forged one',
      twoReferences,
      {
        afterSigning: secondSignedInfo((info, forged) => forged.replace('</ds:SignedInfo>', `${info}</ds:SignedInfo>`)),
      },
    ],
    [
      'with a SignedInfo without a reference before the signed one',
      twoInfos,
      { afterSigning: secondSignedInfo((info) => withoutReference(info) + info) },
    ],
    [
      'with a SignedInfo without a reference after the signed one',
      twoInfos,
      { afterSigning: secondSignedInfo((info) => info + withoutReference(info)) },
    ],
    [
      'with a signature in another namespace',
      notSigned,
      { afterSigning: changed('http://www.w3.org/2000/09/xmldsig#"', 'urn:other"') },
    ],
    [
      'with an assertion in another namespace',
      'the assertion does not stand in the response',
      { assertionBeforeSigning: (xml) => xml.replaceAll('SAML:2.0:assertion"', 'SAML:1.0:assertion"') },
    ],
  ];

  it.each(cases)('Attack: a SAML answer %s is refused', async (_what, detail, change) => {
    const attempt = await beginSaml(context.foyer);
    const xml = await answerXml(context.providers, attempt, { sign: 'assertion', ...change });
    await expectRefused(attempt, await arrive(context.foyer, attempt, xml), 'invalid', detail);
  });

  it('Attack: a good assertion in an answer that says that the sign-in failed signs in no user', async () => {
    for (const [change, outcome, detail] of [
      [{ status: 'Responder' }, 'provider-error', 'provider reported a failure'],
      [{ status: 'Responder', subStatus: 'AuthnFailed' }, 'cancelled', 'provider reported no sign-in'],
    ] as [SamlResponseOptions, string, string][]) {
      const attempt = await beginSaml(context.foyer);
      const to = await arrive(context.foyer, attempt, await answerXml(context.providers, attempt, change));
      await expectRefused(attempt, to, outcome, detail);
    }
  });
});
