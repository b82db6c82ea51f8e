import { makeSigner, type Signer, signElement } from '../../sandbox/providers/index.ts';
import { FederationError } from '../../server/federation/identity.ts';
import { readSignedMetadata } from '../../server/federation/saml/signed-metadata.ts';
import { entitiesXml, entityDescriptor, type MetadataShape } from '../support/provider-documents.ts';

const dayMs = 24 * 60 * 60_000;
const nowMs = Date.now();
const signerFor = (name: string, untilDays = 400) => makeSigner(name, nowMs - 300 * dayMs, nowMs + untilDays * dayMs);
const day = (days: number) => new Date(nowMs + days * dayMs).toISOString();

const entityId = 'https://idp.acme.example/metadata';
const [anchor, next, stranger, past] = [
  signerFor('anchor'),
  signerFor('next'),
  signerFor('stranger'),
  signerFor('past', -1),
];
const signed = (shape: MetadataShape = {}, signer: Signer = anchor) =>
  signElement(entityDescriptor({ entityId, signing: [next.certificate], id: '_m', ...shape }), '_m', signer);
type Expected = Parameters<typeof readSignedMetadata>[1];
const read = (text: string, change: Partial<Expected> = {}) =>
  readSignedMetadata(text, { entityId, anchors: [anchor.certificate], nowMs, ...change });

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof FederationError) return error.detail;
    throw error;
  }
  throw new Error('the metadata were taken over');
}

const evil = entityDescriptor({ entityId, signing: [stranger.certificate], id: '_evil' });
/** The real, signed metadata within an element of the attacker's. */
const wrapped = (root: string) =>
  root.replace(/(<md:IDPSSODescriptor)/, `<md:Extensions>${signed()}</md:Extensions>$1`);
const signatureIn = (xml: string) => /<ds:Signature[\s\S]*<\/ds:Signature>/.exec(xml)?.[0] ?? '';

describe('signed metadata of an identity provider', () => {
  it('Metadata that a trusted certificate has signed give their certificates', () => {
    expect(read(signed()).signing.join()).toContain(next.certificate.slice(30, 90));
    expect(read(signed({}, next), { anchors: [anchor.certificate, next.certificate] }).signing).toHaveLength(1);
    const several = signElement(
      entitiesXml(
        entityDescriptor({ entityId: 'https://idp.other.example', signing: [stranger.certificate] }),
        entityDescriptor({ entityId, signing: [next.certificate] }),
      ).replace('Name=', 'ID="_all" Name='),
      '_all',
      anchor,
    );
    expect(read(several).signing).toEqual(read(signed()).signing);
  });

  it.each<[string, () => string, RegExp]>([
    ['without a signature', () => entityDescriptor({ entityId, signing: [next.certificate] }), /not signed/],
    ['with a signature by another key', () => signed({}, stranger), /not signed by this provider/],
    [
      'with a changed certificate',
      () => signed().replaceAll(next.certificate.slice(40, 80), 'A'.repeat(40)),
      /changed/,
    ],
    ['with an element that was added', () => signed().replace('<md:IDPSSO', '<md:Extensions/><md:IDPSSO'), /changed/],
    ['within an unsigned element', () => wrapped(evil), /where none belongs|not signed/],
    [
      'beside an unsigned element that has their signature',
      () => evil.replace('<md:IDPSSO', `${signatureIn(signed())}<md:IDPSSO`),
      /signs another element/,
    ],
    [
      'beside an unsigned element of the same id',
      () => wrapped(evil.replace('_evil', '_m')),
      /same id|where none belongs|not signed/,
    ],
    ['with a second signature', () => signed().replace(/(<ds:Signature[\s\S]*<\/ds:Signature>)/, '$1$1'), /signature/],
    ['of another entity', () => signed({ entityId: 'https://idp.other.example' }), /another entityID/],
    ['that have ended', () => signed({ validUntil: day(-1) }), /have ended/],
    ['whose end is no time', () => signed({ validUntil: 'for ever' }), /no time/],
    [
      'with an expired certificate alone',
      () => signed({ signing: [past.certificate] }),
      /no valid signing certificate/,
    ],
    ['without a certificate', () => signed({ signing: [] }), /no valid signing certificate/],
    ['with a document type', () => `<!DOCTYPE md [<!ENTITY e "e">]>${signed()}`, /document type/],
    ['of more characters than are read', () => `${signed()}${' '.repeat(1_100_000)}`, /too long/],
    ['of too many elements', () => signed().replace('<md:IDPSSO', `${'<a/>'.repeat(4_000)}<md:IDPSSO`), /too many/],
  ])('Metadata %s are refused', (_what, text, reason) => {
    expect(refusal(() => read(text()))).toMatch(reason);
  });

  it('Metadata with default namespaces, as Microsoft writes them, are read as well', () => {
    const shape = entityDescriptor({ entityId, signing: [next.certificate], id: '_m' });
    const plain = shape.replaceAll('<md:', '<').replaceAll('</md:', '</').replace('xmlns:md=', 'xmlns=');
    expect(read(signElement(plain, '_m', anchor)).signing).toEqual(read(signed()).signing);
  });

  it('A signature with SHA-1 is refused', () => {
    const weak = signElement(entityDescriptor({ entityId, signing: [next.certificate], id: '_m' }), '_m', {
      ...anchor,
      algorithm: 'rsa-sha1',
    });
    expect(refusal(() => read(weak))).toContain('is not accepted');
  });

  it('A comment within the metadata changes nothing of what is read', () => {
    const commented = signed().replace('<md:IDPSSO', '<!-- <md:KeyDescriptor/> --><md:IDPSSO');
    expect(read(commented)).toEqual(read(signed()));
  });

  it('Older metadata with a good signature are refused while the last ones have not ended', () => {
    const last = { lastEndMs: nowMs + 5 * dayMs };
    expect(refusal(() => read(signed({ validUntil: day(4) }), last))).toContain('older than the last ones');
    expect(refusal(() => read(signed(), last))).toContain('older than the last ones');
    expect(read(signed({ validUntil: day(6) }), last).signing).toHaveLength(1);
    expect(read(signed(), { lastEndMs: nowMs - 1 }).signing).toHaveLength(1);
  });

  it('Expired certificates and those without an RSA key are left out beside a valid one', () => {
    expect(read(signed({ signing: [past.certificate, next.certificate] })).signing).toHaveLength(1);
  });
});
