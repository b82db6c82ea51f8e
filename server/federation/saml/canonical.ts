import { C14nCanonicalization, ExclusiveCanonicalization } from 'xml-crypto';
import type { XmlElement } from './xml.ts';

/** Canonical XML 1.0, with comments or without, which a message does not have. */
export const inclusiveC14n = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';

/**
 * The canonical form of an element, with the library's own code: a second implementation could refuse a response that
 * the library accepts.
 * @param options.inclusive Canonical XML 1.0; else Exclusive XML Canonicalization, as SAML requires
 * @param options.prefixes the PrefixList of InclusiveNamespaces; none: that of a CanonicalizationMethod in the element
 */
export function canonicalXml(
  element: XmlElement,
  { inclusive = false, prefixes = [] }: { inclusive?: boolean; prefixes?: string[] } = {},
): string {
  const algorithm = inclusive ? new C14nCanonicalization() : new ExclusiveCanonicalization();
  // Its own declarations are written in any case.
  const ancestorNamespaces = namespacesAround(element).filter(({ prefix }) => prefix !== (element.prefix ?? ''));
  return algorithm.process(element as never, { inclusiveNamespacesPrefixList: prefixes, ancestorNamespaces });
}

interface Declaration {
  /** Empty: the default namespace. */
  prefix: string;
  namespaceURI: string;
}

const declarationsIn = ({ attributes }: XmlElement): Declaration[] =>
  Array.from(attributes)
    .filter(({ name }) => name === 'xmlns' || name.startsWith('xmlns:'))
    .map(({ name, value }) => ({ prefix: name.slice('xmlns:'.length), namespaceURI: value }));

/** The namespaces that an element inherits: declared by its ancestors, for each prefix the nearest. */
export function namespacesAround(element: XmlElement): Declaration[] {
  const found = new Map<string, string>();
  for (let one = element.parentNode as XmlElement | null; one?.attributes; one = one.parentNode as XmlElement | null) {
    for (const { prefix, namespaceURI } of declarationsIn(one)) {
      if (!found.has(prefix)) found.set(prefix, namespaceURI);
    }
  }
  for (const { prefix } of declarationsIn(element)) found.delete(prefix);
  return [...found]
    .filter(([, namespaceURI]) => namespaceURI !== '')
    .map(([prefix, namespaceURI]) => ({ prefix, namespaceURI }));
}
