import { type SamlResponseOptions, signElement } from '../../sandbox/providers/index.ts';
import { answerXml, arrive, beginSaml, inBase64, pathOf, postFromElsewhere } from '../support/saml.ts';
import { evilName, wrap, wrappings } from '../support/saml-wrapping.ts';
import { anyBackend } from '../support/stores.ts';
import { setUpSaml } from './saml-steps.ts';

describe.each([anyBackend])('a wrong SAML answer', (backend) => {
  const context = setUpSaml(backend);
  const { last, expectRefused, changed } = context;
  const shapes = Object.keys(wrappings) as (keyof typeof wrappings)[];

  it.each(
    shapes
      .flatMap((shape) => (['both', 'assertion', 'response'] as const).map((sign) => [shape, sign] as const))
      .filter(([shape, sign]) => (/XSW [12]/.test(shape) ? sign !== 'assertion' : sign !== 'response')),
  )('A wrapped SAML answer is refused: %s, signed: %s', async (shape, sign) => {
    const attempt = await beginSaml(context.foyer);
    const xml = wrap(await answerXml(context.providers, attempt, { sign }), shape);
    expect(xml).toContain(evilName);
    const to = await arrive(context.foyer, attempt, xml);
    expect(last()?.detail).toMatch(/^the response has more than one assertion$/);
    await expectRefused(attempt, to, 'invalid', last()?.detail ?? '');
  });

  it('A signature with an element that is named as a member of every object is refused as any forged one', async () => {
    const attempt = await beginSaml(context.foyer);
    const afterSigning = changed('<ds:Reference ', '<ds:constructor/><ds:Reference ');
    const to = await arrive(context.foyer, attempt, await answerXml(context.providers, attempt, { afterSigning }));
    await expectRefused(attempt, to, 'invalid', 'the assertion is not signed by this provider');
  });

  it('An encrypted SAML answer that its sender has written is refused', async () => {
    // Foyer's certificate is public, so any sender can encrypt for Foyer.
    const encryptFor = context.providers.serviceProvider.certificate;
    for (const [change, detail] of [
      [{ sign: 'none' }, 'the assertion is not signed by this provider'],
      [{ sign: 'both', signer: context.providers.otherSigner() }, 'the assertion is not signed by this provider'],
      [{ assertionBeforeSigning: changed('</saml:NameID>', '<!-- -->x</saml:NameID>') }, 'the message has a comment'],
      [{ signatureAlgorithm: 'rsa-sha1', sign: 'assertion' }, 'a signature has a SignatureMethod that is not accepted'],
    ] as [SamlResponseOptions, string][]) {
      const attempt = await beginSaml(context.foyer, { provider: 'sealed' });
      const xml = await answerXml(context.providers, attempt, {
        issuer: 'https://sealed.example',
        encryptFor,
        ...change,
      });
      await expectRefused(attempt, await arrive(context.foyer, attempt, xml), 'invalid', detail);
    }
  });

  it('A SAML answer with its signing key in its own signature is refused', async () => {
    const attempt = await beginSaml(context.foyer);
    const signer = context.providers.otherSigner();
    const body = signer.certificate.replace(/-----[^-]+-----|\s/g, '');
    const info = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${body}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
    const xml = await answerXml(context.providers, attempt, {
      sign: 'assertion',
      signer,
      afterSigning: (signed) =>
        signed
          .replace(/<ds:KeyInfo>.*?<\/ds:KeyInfo>/s, '')
          .replace('</ds:SignatureValue>', `</ds:SignatureValue>${info}`),
    });
    expect(xml).toContain(body);
    const to = await arrive(context.foyer, attempt, xml);
    await expectRefused(attempt, to, 'invalid', 'the assertion is not signed by this provider');
  });

  it('A SAML answer of one provider in the name of another is refused', async () => {
    // The rival is a configured provider and may sign answers only about its own users.
    const attempt = await beginSaml(context.foyer);
    const stolen = await answerXml(context.providers, attempt, { signer: context.providers.otherSigner() });
    await expectRefused(
      attempt,
      await arrive(context.foyer, attempt, stolen),
      'invalid',
      'the assertion is not signed by this provider',
    );
    // The answer goes to the rival's own endpoint with the attempt of the other provider (mix-up).
    const answer = await postFromElsewhere(context.foyer, '/federation/rival/acs', {
      SAMLResponse: inBase64(stolen),
      RelayState: attempt.relayState,
    });
    await expectRefused(attempt, pathOf(answer), 'foreign', 'unsolicited response');
    // In an answer to its own attempt, the rival may not issue assertions of the other provider.
    const own = await beginSaml(context.foyer, { provider: 'rival' });
    const xml = await answerXml(context.providers, own, {
      signer: context.providers.otherSigner(),
      issuer: 'https://rival.example',
      assertionIssuer: context.providers.saml.entityId,
    });
    await expectRefused(
      own,
      await arrive(context.foyer, own, xml),
      'invalid',
      'the issuer of the assertion is not this provider',
    );
  });

  it('An assertion that carries a signature of the provider for something else is refused', async () => {
    const attempt = await beginSaml(context.foyer);
    const xml = await answerXml(context.providers, attempt, { sign: 'none' });
    // The provider signs another kind of message that has the id of the assertion.
    const [, id = ''] = /<saml:Assertion [^>]*ID="([^"]+)"/.exec(xml) ?? [];
    const other = signElement(
      `<x xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}"><saml:Issuer>y</saml:Issuer></x>`,
      id,
      context.providers.samlSigner,
    );
    const [signature = ''] = /<ds:Signature .*<\/ds:Signature>/s.exec(other) ?? [];
    const forged = xml.replace(/(<saml:Assertion .*?<\/saml:Issuer>)/s, `$1${signature}`);
    await expectRefused(
      attempt,
      await arrive(context.foyer, attempt, forged),
      'invalid',
      'the assertion is not signed by this provider',
    );
  });
});
