import { type SamlResponseOptions, signElement } from '../../sandbox/providers/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import {
  answerXml,
  arrive,
  beginSaml,
  federationLog,
  inBase64,
  pathOf,
  postFromElsewhere,
  type SamlAttempt,
} from '../support/saml.ts';
import { evilAddress, evilName, wrap, wrappings } from '../support/saml-wrapping.ts';
import { anyBackend } from '../support/stores.ts';

const minuteMs = 60_000;
const elsewhere = 'https://another-app.example/acs';

describe.each([anyBackend])('a wrong SAML answer', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    const rival = providers.write('rival.crt', providers.otherSigner().certificate);
    foyer = await startFoyer(backend, {
      GUESS_LIMIT_ADDRESS: '100000',
      ...providers.environment((file) => ({
        ...file,
        providers: [
          ...file.providers,
          {
            ...(file.providers[1] as object),
            id: 'rival',
            name: 'Rival',
            entityId: 'https://rival.example',
            domains: [],
            certificates: [rival],
          },
          {
            ...(file.providers[1] as object),
            id: 'sealed',
            entityId: 'https://sealed.example',
            domains: [],
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

  const isSignedIn = async ({ browser }: SamlAttempt) => (await browser.get('/')).status === 303;
  const last = () => federationLog(foyer).at(-1);

  /** Nobody is signed in, the page says what it may, the log says why, and repeats nothing of what was sent. */
  async function expectRefused(attempt: SamlAttempt, to: string, outcome: string, detail: string): Promise<void> {
    expect(new URL(to, foyer.url).searchParams.get('notice')).toBe(`federation-${outcome}`);
    expect(last()).toMatchObject({ outcome, detail });
    expect(await isSignedIn(attempt)).toBe(false);
    const logged = foyer.logged();
    for (const secret of [evilName, evilAddress, providers.people.saml.ada.email ?? '', 'another-app.example'])
      expect(logged).not.toContain(secret);
  }

  it('A right SAML answer, from which each wrong one differs in one way, signs the user in', async () => {
    // What follows differs from this in one thing each.
    for (const sign of ['both', 'assertion'] as const) {
      const attempt = await beginSaml(foyer);
      const xml = await answerXml(providers, attempt, {
        sign,
        nameId: `control-${sign}`,
        attributes: { mail: `control-${sign}@corp.acme.example` },
      });
      await arrive(foyer, attempt, xml);
      expect([sign, await isSignedIn(attempt)]).toEqual([sign, true]);
    }
  });

  const changed = (from: string | RegExp, to: string) => (xml: string) => {
    const other = xml.replace(from, to);
    if (other === xml) throw new Error(`nothing to change: ${from}`);
    return other;
  };
  const now = Date.now;
  const expired = { notOnOrAfterMs: now() - minuteMs };
  const cases: [string, string, () => SamlResponseOptions][] = [
    ['not signed at all', 'the assertion is not signed by this provider', () => ({ sign: 'none' })],
    ['signed around the assertion alone', 'the assertion is not signed by this provider', () => ({ sign: 'response' })],
    [
      'signed by another provider’s key',
      'the assertion is not signed by this provider',
      () => ({ signer: providers.otherSigner() }),
    ],
    [
      'changed after it was signed',
      'the assertion is not signed by this provider',
      () => ({ sign: 'assertion', afterSigning: changed('</saml:NameID>', 'x</saml:NameID>') }),
    ],
    [
      'an attribute was added to after it was signed',
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
      'signed with SHA-1',
      'a signature has a SignatureMethod that is not accepted',
      () => ({ signatureAlgorithm: 'rsa-sha1' }),
    ],
    [
      'signed with a secret that is public',
      'a signature has a SignatureMethod that is not accepted',
      () => ({
        afterSigning: changed(
          /SignatureMethod Algorithm="[^"]+"/g,
          'SignatureMethod Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1"',
        ),
      }),
    ],
    [
      'read by a style sheet before its signature is checked',
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
      'signed elsewhere: the signature stands beside the assertion',
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
    [
      'sent to another destination',
      'the destination is another address than this one',
      () => ({ destination: elsewhere }),
    ],
    [
      'of another issuer',
      'the issuer of the response is not this provider',
      () => ({ issuer: 'https://another-app.example' }),
    ],
    [
      'whose assertion is of another issuer',
      'the issuer of the assertion is not this provider',
      () => ({ assertionIssuer: 'https://another-app.example' }),
    ],
    ['whose assertion is of nobody', 'Assertion has no Issuer', () => ({ assertionIssuer: null })],
    ['expired', 'the confirmation of the subject has expired', () => expired],
    [
      'expired, but for its confirmation',
      'the assertion has expired',
      () => ({ ...expired, subjectNotOnOrAfterMs: now() + minuteMs }),
    ],
    [
      'whose confirmation has expired',
      'the confirmation of the subject has expired',
      () => ({ subjectNotOnOrAfterMs: now() - minuteMs }),
    ],
    ['without an end', 'the confirmation of the subject never ends', () => ({ notOnOrAfterMs: null })],
    ['not valid yet', 'the assertion is not valid yet', () => ({ notBeforeMs: now() + minuteMs })],
    ['issued in the future', 'the assertion was issued in the future', () => ({ issuedAtMs: now() + minuteMs })],
    [
      'issued long ago',
      'the assertion has expired: it was issued long ago',
      () => ({ issuedAtMs: now() - 60 * minuteMs }),
    ],
    ['about nobody', 'Subject has no NameID', () => ({ nameId: null })],
    ['without an assertion', 'the response has no assertion', () => ({ assertion: '' })],
    ['no XML', 'the message is no XML', () => ({ afterSigning: () => 'this is no XML' })],
    [
      'no end of XML',
      'the message is too deep',
      () => ({ afterSigning: () => '<a>'.repeat(200) + '</a>'.repeat(200) }),
    ],
    [
      'no end of elements',
      'the message has too many elements',
      () => ({ afterSigning: changed('<samlp:Status>', `${'<a/>'.repeat(10_000)}<samlp:Status>`) }),
    ],
    [
      'more elements than can be read in a moment',
      'the message has too many elements',
      () => ({ afterSigning: changed('<samlp:Status>', `${'<a/>'.repeat(1_000)}<samlp:Status>`) }),
    ],
    [
      'more attributes than can be read in a moment',
      'the message has too many attributes',
      () => {
        const many = Array.from({ length: 2_000 }, (_, n) => `a${n}=''`).join(' ');
        return { afterSigning: changed('<samlp:Status>', `<a ${many}/><samlp:Status>`) };
      },
    ],
    [
      'a response of SAML 1.1',
      'the response is not of SAML 2.0',
      () => ({ responseBeforeSigning: changed('Version="2.0"', 'Version="1.1"') }),
    ],
    [
      'another message',
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
      'whose assertion answers another request',
      'the confirmation of the subject does not answer the request of this attempt',
      () => ({ subjectInResponseTo: '_another' }),
    ],
    [
      'whose assertion answers no request',
      'the confirmation of the subject does not answer the request of this attempt',
      () => ({ subjectInResponseTo: null }),
    ],
    [
      'confirmed for the holder of a key',
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

  it.each(cases)('A wrong SAML answer is refused: %s', async (_what, detail, change) => {
    const attempt = await beginSaml(foyer);
    const to = await arrive(foyer, attempt, await answerXml(providers, attempt, change()));
    await expectRefused(attempt, to, 'invalid', detail);
  });

  const shapes = Object.keys(wrappings) as (keyof typeof wrappings)[];
  it.each(
    shapes
      .flatMap((shape) => (['both', 'assertion', 'response'] as const).map((sign) => [shape, sign] as const))
      .filter(([shape, sign]) => (/XSW [12]/.test(shape) ? sign !== 'assertion' : sign !== 'response')),
  )('A wrapped SAML answer is refused: %s, signed: %s', async (shape, sign) => {
    const attempt = await beginSaml(foyer);
    const xml = wrap(await answerXml(providers, attempt, { sign }), shape);
    expect(xml).toContain(evilName);
    const to = await arrive(foyer, attempt, xml);
    expect(last()?.detail).toMatch(/^the response has more than one assertion$/);
    await expectRefused(attempt, to, 'invalid', last()?.detail ?? '');
  });

  it('An encrypted SAML answer that its sender has written is refused', async () => {
    // Our certificate is public: anybody can encrypt for us.
    const encryptFor = providers.serviceProvider.certificate;
    for (const [change, detail] of [
      [{ sign: 'none' }, 'the assertion is not signed by this provider'],
      [{ sign: 'both', signer: providers.otherSigner() }, 'the assertion is not signed by this provider'],
      [{ assertionBeforeSigning: changed('</saml:NameID>', '<!-- -->x</saml:NameID>') }, 'the message has a comment'],
      [{ signatureAlgorithm: 'rsa-sha1', sign: 'assertion' }, 'a signature has a SignatureMethod that is not accepted'],
    ] as [SamlResponseOptions, string][]) {
      const attempt = await beginSaml(foyer, { provider: 'sealed' });
      const xml = await answerXml(providers, attempt, { issuer: 'https://sealed.example', encryptFor, ...change });
      await expectRefused(attempt, await arrive(foyer, attempt, xml), 'invalid', detail);
    }
  });

  it('A SAML answer with its signing key in its own signature is refused', async () => {
    const attempt = await beginSaml(foyer);
    const signer = providers.otherSigner();
    const body = signer.certificate.replace(/-----[^-]+-----|\s/g, '');
    const info = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${body}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
    const xml = await answerXml(providers, attempt, {
      sign: 'assertion',
      signer,
      afterSigning: (signed) =>
        signed
          .replace(/<ds:KeyInfo>.*?<\/ds:KeyInfo>/s, '')
          .replace('</ds:SignatureValue>', `</ds:SignatureValue>${info}`),
    });
    expect(xml).toContain(body);
    const to = await arrive(foyer, attempt, xml);
    await expectRefused(attempt, to, 'invalid', 'the assertion is not signed by this provider');
  });

  it('A SAML answer of one provider in the name of another is refused', async () => {
    // The rival is a provider here, and signs what it likes: of itself, and never of the other's people.
    const attempt = await beginSaml(foyer);
    const stolen = await answerXml(providers, attempt, { signer: providers.otherSigner() });
    await expectRefused(
      attempt,
      await arrive(foyer, attempt, stolen),
      'invalid',
      'the assertion is not signed by this provider',
    );
    // Sent to the rival's own endpoint, with the attempt of the other (mix-up).
    const answer = await postFromElsewhere(foyer, '/federation/rival/acs', {
      SAMLResponse: inBase64(stolen),
      RelayState: attempt.relayState,
    });
    await expectRefused(attempt, pathOf(answer), 'foreign', 'unsolicited response');
    // As an answer to an attempt of its own, it may not speak for the other.
    const own = await beginSaml(foyer, { provider: 'rival' });
    const xml = await answerXml(providers, own, {
      signer: providers.otherSigner(),
      issuer: 'https://rival.example',
      assertionIssuer: providers.saml.entityId,
    });
    await expectRefused(
      own,
      await arrive(foyer, own, xml),
      'invalid',
      'the issuer of the assertion is not this provider',
    );
  });

  it('An unsolicited SAML answer is refused, wherever its RelayState leads', async () => {
    for (const relayState of [
      '',
      'https://evil.example/',
      '//evil.example',
      'a'.repeat(43),
      `/?${'x'.repeat(5_000)}`,
    ]) {
      const attempt = await beginSaml(foyer);
      const xml = await answerXml(providers, attempt, { inResponseTo: null });
      const to = await arrive(foyer, { ...attempt, relayState }, xml);
      expect(to).not.toContain('evil.example');
      await expectRefused(attempt, to, 'foreign', 'unsolicited response');
    }
  });

  it('A replayed SAML answer is refused', async () => {
    const attempt = await beginSaml(foyer);
    const xml = await answerXml(providers, attempt, {
      nameId: 'replayed',
      attributes: { mail: 'replayed@corp.acme.example' },
    });
    const { pathname } = new URL(attempt.request.acsUrl);
    const fields = { SAMLResponse: inBase64(xml), RelayState: attempt.relayState };
    const [first, second] = [
      await postFromElsewhere(foyer, pathname, fields),
      await postFromElsewhere(foyer, pathname, fields),
    ];
    // Of both, one is good.
    await attempt.browser.get(pathOf(first), { from: 'cross-site' });
    expect(await isSignedIn(attempt)).toBe(true);
    await attempt.browser.post('/logout');
    expect(pathOf(await attempt.browser.get(pathOf(second)))).toContain('federation-over');
    expect(pathOf(await attempt.browser.get(pathOf(first)))).toContain('federation-over');
    expect(await isSignedIn(attempt)).toBe(false);
    // And to the provider's own endpoint, with the attempt that it used up, or with another.
    await expectRefused(attempt, await arrive(foyer, attempt, xml), 'over', 'response to an expired attempt');
    const other = await beginSaml(foyer);
    await expectRefused(
      other,
      await arrive(foyer, other, xml),
      'invalid',
      'the response does not answer the request of this attempt',
    );
  });

  it('A SAML answer to another browser’s attempt signs in neither to an attacker’s account nor as a victim', async () => {
    const attacker = await beginSaml(foyer);
    const xml = await answerXml(providers, attacker, {
      nameId: 'attacker',
      attributes: { mail: 'attacker@corp.acme.example' },
    });
    const { pathname } = new URL(attacker.request.acsUrl);
    const fields = { SAMLResponse: inBase64(xml), RelayState: attacker.relayState };
    const posted = await postFromElsewhere(foyer, pathname, fields);
    const victim = await beginSaml(foyer);
    const to = pathOf(await victim.browser.get(pathOf(posted), { from: 'cross-site' }));
    await expectRefused(victim, to, 'foreign', 'attempt not open');
  });

  it('A late SAML answer is refused', async () => {
    const attempt = await beginSaml(foyer, { search: '?redirect=%2Fsettings' });
    foyer.passTime(16 * minuteMs);
    try {
      const to = await arrive(foyer, attempt, await answerXml(providers, attempt));
      expect(new URL(to, foyer.url).searchParams.get('redirect')).toBe('/settings');
      await expectRefused(attempt, to, 'over', 'response to an expired attempt');
    } finally {
      foyer.passTime(-16 * minuteMs);
    }
  });

  it('A SAML answer posted without a form, too long, twice or not in base64 is refused', async () => {
    const attempt = await beginSaml(foyer);
    const { pathname } = new URL(attempt.request.acsUrl);
    const RelayState = attempt.relayState;
    const json = await foyer
      .browser()
      .postJson(pathname, { SAMLResponse: 'x', RelayState }, { 'sec-fetch-site': 'cross-site' });
    expect(json.status).toBe(415);
    expect((await postFromElsewhere(foyer, pathname, { SAMLResponse: 'A'.repeat(300_000), RelayState })).status).toBe(
      413,
    );
    const twice = await foyer.browser().request(pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `SAMLResponse=QUFB&SAMLResponse=QUFB&RelayState=${RelayState}`,
    });
    expect(twice.status).toBe(400);
    for (const [SAMLResponse, detail] of [
      ['', 'there is no message'],
      ['<samlp:Response/>', 'the message is not in base64'],
      [Buffer.from('<a>é</a>', 'latin1').toString('base64'), 'the message is no text in UTF-8'],
      [Buffer.from('\ufeff<a/>', 'utf16le').toString('base64'), 'the message is no text in UTF-8'],
    ] as [string, string][]) {
      const posted = await postFromElsewhere(foyer, pathname, { SAMLResponse, RelayState });
      await expectRefused(attempt, pathOf(await attempt.browser.get(pathOf(posted))), 'invalid', detail);
    }
    // A message in the address is no post, and none of the library's other ways in.
    const address = `${pathname}?SAMLResponse=QUFB`;
    expect((await foyer.browser().get(address)).status).toBe(404);
    const another = await beginSaml(foyer);
    const beside = await postFromElsewhere(foyer, address, { RelayState: another.relayState });
    await expectRefused(another, pathOf(await another.browser.get(pathOf(beside))), 'invalid', 'there is no message');
  });

  it('Repeated SAML answers to one attempt are read only a few times', async () => {
    const attempt = await beginSaml(foyer);
    const wrong = await answerXml(providers, attempt, { sign: 'none' });
    for (let n = 0; n < 5; n += 1) expect(await arrive(foyer, attempt, wrong)).toContain('federation-invalid');
    const right = await answerXml(providers, attempt);
    await expectRefused(attempt, await arrive(foyer, attempt, right), 'too-many', 'too many responses to one attempt');
  });

  it('Repeated SAML answers to an attempt that is over store nothing for their sender', async () => {
    const attempt = await beginSaml(foyer);
    const right = await answerXml(providers, attempt);
    await arrive(foyer, attempt, right);
    const { pathname } = new URL(attempt.request.acsUrl);
    const ledTo: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const fields = { SAMLResponse: inBase64(right), RelayState: attempt.relayState };
      ledTo.push(pathOf(await postFromElsewhere(foyer, pathname, fields)).split('?')[0] ?? '');
    }
    expect(ledTo).toEqual([...Array(4).fill('/federation/acme-saml/finish'), ...Array(4).fill('/')]);
  });

  it('An assertion that carries a signature of the provider for something else is refused', async () => {
    const attempt = await beginSaml(foyer);
    const xml = await answerXml(providers, attempt, { sign: 'none' });
    // The provider signs a message of another kind that holds the assertion's id.
    const [, id = ''] = /<saml:Assertion [^>]*ID="([^"]+)"/.exec(xml) ?? [];
    const other = signElement(
      `<x xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}"><saml:Issuer>y</saml:Issuer></x>`,
      id,
      providers.samlSigner,
    );
    const [signature = ''] = /<ds:Signature .*<\/ds:Signature>/s.exec(other) ?? [];
    const forged = xml.replace(/(<saml:Assertion .*?<\/saml:Issuer>)/s, `$1${signature}`);
    await expectRefused(
      attempt,
      await arrive(foyer, attempt, forged),
      'invalid',
      'the assertion is not signed by this provider',
    );
  });
});
