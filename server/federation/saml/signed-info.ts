import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { canonicalXml, inclusiveC14n } from './canonical.ts';
import { sha512Mgf1 } from './rsa-pss-sha512.ts';
import { children, childrenNamed, everyElement, is, requireOne, type XmlElement, xmlError } from './xml.ts';

interface SignatureMethod {
  hash: string;
  padding: number;
}

/** The algorithms of `signatures.ts`, by their names in Node.js; those of signed addresses, too. */
export const verifiedMethods: ReadonlyMap<string, SignatureMethod> = new Map([
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', { hash: 'sha256', padding: constants.RSA_PKCS1_PADDING }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', { hash: 'sha512', padding: constants.RSA_PKCS1_PADDING }],
  [
    'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
    { hash: 'sha256', padding: constants.RSA_PKCS1_PSS_PADDING },
  ],
  [sha512Mgf1, { hash: 'sha512', padding: constants.RSA_PKCS1_PSS_PADDING }],
]);

/** The size of 4,096 bits, with line breaks. */
const maxSignatureCharacters = 1_500;

/**
 * Refuses a message with a signature by none of the provider's keys. The library first compares the digest of the whole
 * message, which takes most of the time, and then the signature over `SignedInfo`. This only does the second (XML
 * Signature, section 3.2.2), so that a stranger's message is refused cheaply. It can only refuse.
 * @param certificates PEM
 * @throws {FederationError} invalid
 */
export function refuseForeignSignatures(root: XmlElement, certificates: readonly string[]): void {
  const keys = keysIn(certificates);
  const signatures = everyElement(root).filter((element) => is(element, 'signature', 'Signature'));
  for (const signature of signatures) {
    if (!isBy(signature, keys)) throw xmlError('the assertion is not signed by this provider');
  }
}

/**
 * Cached by the lists of the configuration, which stay the same: reading a certificate takes as long as a verification.
 */
const keyLists = new WeakMap<readonly string[], KeyObject[]>();

function keysIn(certificates: readonly string[]): KeyObject[] {
  const known = keyLists.get(certificates);
  if (known) return known;
  const keys = certificates.flatMap(keyIn);
  keyLists.set(certificates, keys);
  return keys;
}

/** A file without a certificate must not prevent the use of the next one; `foyer provider check` reports it. */
function keyIn(certificate: string): KeyObject[] {
  try {
    return [createPublicKey(certificate)];
  } catch {
    return [];
  }
}

function isBy(signature: XmlElement, keys: readonly KeyObject[]): boolean {
  const signedInfo = requireOne(signature, 'signature', 'SignedInfo');
  const algorithm = requireOne(signedInfo, 'signature', 'SignatureMethod').getAttribute('Algorithm') ?? '';
  const signatureValue = requireOne(signature, 'signature', 'SignatureValue');
  if (children(signatureValue).length > 0) throw xmlError('the value of a signature has elements in it');
  const value = signatureValue.textContent ?? '';
  if (value.length > maxSignatureCharacters) throw xmlError('a signature is too long');
  const method = verifiedMethods.get(algorithm);
  if (!method) throw xmlError('a signature has a SignatureMethod that is not accepted');
  const signed = Buffer.from(canonical(signedInfo), 'utf8');
  const bytes = Buffer.from(value, 'base64');
  return keys.some((key) => {
    try {
      return verify(method.hash, signed, { key, padding: method.padding }, bytes);
    } catch {
      // A key of another kind.
      return false;
    }
  });
}

function canonical(signedInfo: XmlElement): string {
  const method = requireOne(signedInfo, 'signature', 'CanonicalizationMethod').getAttribute('Algorithm') ?? '';
  if (childrenNamed(signedInfo, 'signature', 'Reference').length !== 1)
    throw xmlError('a signature does not sign one element');
  return canonicalXml(signedInfo, { inclusive: method.startsWith(inclusiveC14n) });
}
