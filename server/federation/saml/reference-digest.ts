import { createHash } from 'node:crypto';
import { canonicalXml, inclusiveC14n } from './canonical.ts';
import { children, childrenNamed, everyElement, is, requireOne, type XmlElement, xmlError } from './xml.ts';

/** The algorithms of `signatures.ts`, by their names in Node.js. */
const hashes: Record<string, string> = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
};
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
/** With comments or without: a message has none. */
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';

/**
 * Refuses a message in which a signed element was changed (XML Signature, section 3.2.1), so that additions to a real
 * response of the provider are refused cheaply: the library reads the message several times before it compares the
 * digest. This can only refuse; the library still verifies the assertion. The caller must have verified SignedInfo,
 * which names the transforms and the digest.
 * @throws {FederationError} invalid
 */
export function refuseChangedElements(root: XmlElement): void {
  for (const element of everyElement(root)) {
    if (is(element, 'signature', 'Signature') && !matchesDigest(element))
      throw xmlError('the assertion is not signed by this provider');
  }
}

/**
 * The signed text: the canonical form of the element around an enveloped signature.
 * @throws {FederationError} invalid, if it was changed, or has a list of transforms that is not known here
 */
export function requireSignedText(signature: XmlElement): string {
  const { text, matches } = digestedText(signature) ?? {};
  if (text === undefined || !matches) throw xmlError('the signed element was changed');
  return text;
}

// The library decides about other lists of transforms, which no known provider uses.
const matchesDigest = (signature: XmlElement): boolean => digestedText(signature)?.matches ?? true;

/** Undefined: the list of transforms is not known here. */
function digestedText(signature: XmlElement): { text: string; matches: boolean } | undefined {
  const reference = requireOne(requireOne(signature, 'signature', 'SignedInfo'), 'signature', 'Reference');
  const transforms = childrenNamed(reference, 'signature', 'Transforms').flatMap((list) =>
    childrenNamed(list, 'signature', 'Transform'),
  );
  const [first, second] = transforms.map(algorithmIn);
  const inclusive = transforms.length === 1 || second?.startsWith(inclusiveC14n) === true;
  if (first !== enveloped || (!inclusive && (transforms.length > 2 || !second?.startsWith(exclusive))))
    return undefined;
  const hash = hashes[algorithmIn(requireOne(reference, 'signature', 'DigestMethod'))];
  if (hash === undefined) throw xmlError('a signature has a DigestMethod that is not accepted');
  const digest = requireOne(reference, 'signature', 'DigestValue').textContent ?? '';
  const prefixes = transforms.slice(1).flatMap(prefixesIn);
  const text = canonicalWithout(signature, { inclusive, prefixes });
  const matches = createHash(hash).update(text, 'utf8').digest().equals(Buffer.from(digest, 'base64'));
  return { text, matches };
}

const algorithmIn = (element: XmlElement): string => element.getAttribute('Algorithm') ?? '';

/** In any namespace, as the library reads them. */
const prefixesIn = (transform: XmlElement): string[] =>
  children(transform)
    .filter(({ localName }) => localName === 'InclusiveNamespaces')
    .flatMap((element) => (element.getAttribute('PrefixList') ?? '').split(' '))
    .filter((prefix) => prefix !== '');

/**
 * The content of an enveloped signature: the element around it, without the signature. Removing it temporarily needs no
 * copy.
 */
function canonicalWithout(signature: XmlElement, form: Parameters<typeof canonicalXml>[1]): string {
  const { parentNode, nextSibling } = signature;
  const signed = parentNode as XmlElement;
  signed.removeChild(signature);
  try {
    return canonicalXml(signed, form);
  } finally {
    signed.insertBefore(signature, nextSibling);
  }
}
