import { inclusiveC14n } from './canonical.ts';
import { sha512Mgf1 } from './rsa-pss-sha512.ts';
import { childrenNamed, everyElement, is, type XmlElement, xmlError } from './xml.ts';

/** SHA-1 is broken, and with HMAC the public certificate would become the secret. */
const signatureMethods = new Set([
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  sha512Mgf1,
]);
const digestMethods = new Set(['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512']);
/**
 * SAML 2.0 Core, sections 5.4.3 and 5.4.4; inclusive ones are no part of it, but some products write them. The variants
 * with comments only differ if there are comments, which are refused.
 */
const canonicalizations = [
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
  inclusiveC14n,
  `${inclusiveC14n}#WithComments`,
];
const transforms = new Set(['http://www.w3.org/2000/09/xmldsig#enveloped-signature', ...canonicalizations]);

const allowed = new Map([
  ['SignatureMethod', signatureMethods],
  ['DigestMethod', digestMethods],
  ['Transform', transforms],
  ['CanonicalizationMethod', new Set(canonicalizations)],
]);

/**
 * Checks the place and the algorithms of each signature: directly in the element that it signs, with secure algorithms.
 * The library verifies the signature itself.
 * @throws {FederationError} invalid
 */
export function checkSignatureShapes(root: XmlElement, signed: (element: XmlElement) => boolean): void {
  const ids = new Set<string>();
  const signedOnes = new Set<XmlElement>();
  for (const element of everyElement(root)) {
    for (const { name, value } of Array.from(element.attributes)) {
      if (!/^(xml:)?id$/i.test(name)) continue;
      if (ids.has(value)) throw xmlError('two elements have the same id');
      ids.add(value);
    }
    if (!is(element, 'signature', 'Signature')) continue;
    const parent = element.parentNode as XmlElement;
    if (!signed(parent)) throw xmlError('a signature stands where none belongs');
    if (signedOnes.has(parent)) throw xmlError('an element has two signatures');
    signedOnes.add(parent);
    checkSignature(element, parent.getAttribute('ID') ?? '');
  }
}

/** SAML 2.0 Core, section 5.4.4: the two that are allowed. */
const maxTransforms = 2;
/** Prefixes that a transform includes: some libraries name `xs`. */
const maxPrefixes = 20;
/** Size of keys and their certificates, which are never trusted. */
const maxKeyCharacters = 20_000;

function checkCosts(element: XmlElement): void {
  const { localName } = element;
  const size = (name: string) => (element.getAttribute(name) ?? '').trim().split(/\s+/).length;
  if (localName === 'Transforms' && childrenNamed(element, 'signature', 'Transform').length > maxTransforms)
    throw xmlError('a signature has too many transforms');
  if (localName === 'InclusiveNamespaces' && size('PrefixList') > maxPrefixes)
    throw xmlError('a signature includes too many namespaces');
  if (localName === 'KeyInfo' && (element.textContent ?? '').length > maxKeyCharacters)
    throw xmlError('the key of a signature is too long');
}

function checkSignature(signature: XmlElement, id: string): void {
  let references = 0;
  for (const element of everyElement(signature)) {
    checkCosts(element);
    if (is(element, 'signature', 'Object')) throw xmlError('a signature holds an object');
    if (is(element, 'signature', 'Reference')) {
      references += 1;
      if (id === '' || element.getAttribute('URI') !== `#${id}`) throw xmlError('a signature signs another element');
    }
    const methods = element.namespaceURI === signature.namespaceURI ? allowed.get(element.localName ?? '') : undefined;
    if (methods && !methods.has(element.getAttribute('Algorithm') ?? ''))
      throw xmlError(`a signature has a ${element.localName} that is not accepted`);
  }
  if (references !== 1) throw xmlError('a signature does not sign one element');
}
