import { answerXml, arrive, beginSaml, federationLog, inBase64, pathOf, postFromElsewhere } from '../support/saml.ts';
import { wrap } from '../support/saml-wrapping.ts';
import { backends } from '../support/stores.ts';
import { setUpSamlFromOutside } from './saml-outside-steps.ts';

describe.each(backends)('SAML answers from outside, on $name', (backend) => {
  const context = setUpSamlFromOutside(backend);
  const { isSignedIn, expectRefused } = context;

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
        const attempt = await beginSaml(context.foyer);
        const xml = declaration + (await answerXml(context.providers, attempt));
        const { pathname } = new URL(attempt.request.acsUrl);
        const fields = { SAMLResponse: utf16(xml, how).toString('base64'), RelayState: attempt.relayState };
        const posted = await postFromElsewhere(context.foyer, pathname, fields);
        const to = pathOf(await attempt.browser.get(pathOf(posted), { from: 'cross-site' }));
        expect(to).toContain('#federation:invalid');
        expect(federationLog(context.foyer).at(-1)?.detail).toMatch(/^the message is no (text in UTF-8|XML)$/);
        expect(await isSignedIn(attempt.browser)).toBe(false);
      }
    });

    it.each(['UTF-16', 'utf-7', 'ISO-8859-1', 'cp037', 'UTF-8x'])(
      'A UTF-8 message that says it is %s is refused, because another reader would see another text',
      async (encoding) => {
        for (const quote of ['"', "'"]) {
          const attempt = await beginSaml(context.foyer);
          const xml = await answerXml(context.providers, attempt);
          const declared = `<?xml version="1.0" encoding=${quote}${encoding}${quote}?>${xml}`;
          await expectRefused(attempt, declared, 'the message says that it is in another encoding than UTF-8');
        }
      },
    );

    it.each(['UTF-8', 'utf-8'])('A UTF-8 message that says it is %s signs in', async (encoding) => {
      const attempt = await beginSaml(context.foyer);
      const nameId = encoding === 'UTF-8' ? 'declared-large' : 'declared-small';
      const who = { nameId, attributes: { mail: `${nameId}@corp.acme.example` } };
      const xml = await answerXml(context.providers, attempt, who);
      await arrive(context.foyer, attempt, `<?xml version="1.0" encoding="${encoding}"?>${xml}`);
      expect(await isSignedIn(attempt.browser)).toBe(true);
    });
  });

  it.each(['XSW 1', 'XSW 2', 'XSW 6'] as const)(
    'The wrapping %s is refused with every way of signing and as an unsolicited answer',
    async (shape) => {
      for (const sign of ['both', 'assertion', 'response'] as const) {
        const hasOne = shape === 'XSW 6' ? sign !== 'response' : sign !== 'assertion';
        if (!hasOne) continue;
        const attempt = await beginSaml(context.foyer);
        const wrapped = wrap(await answerXml(context.providers, attempt, { sign }), shape);
        await expectRefused(attempt, wrapped, 'the response has more than one assertion');
        const { pathname } = new URL(attempt.request.acsUrl);
        const unasked = await postFromElsewhere(context.foyer, pathname, { SAMLResponse: inBase64(wrapped) });
        expect(pathOf(unasked)).toContain('#federation:foreign');
      }
    },
  );
});
