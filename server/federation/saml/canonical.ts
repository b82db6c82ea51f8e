import { C14nCanonicalization, ExclusiveCanonicalization } from 'xml-crypto';
import type { XmlElement } from './xml.ts';

/**
 * The canonical form of an element, by the code with which the library writes it: a second implementation could refuse an
 * answer that the library takes.
 * @param options.inclusive Canonical XML 1.0; else Exclusive XML Canonicalization, as SAML wants it
 * @param options.prefixes the PrefixList of InclusiveNamespaces; none: that of a CanonicalizationMethod in the element
 */
export function canonicalXml(
  element: XmlElement,
  { inclusive = false, prefixes = [] }: { inclusive?: boolean; prefixes?: string[] } = {},
): string {
  const algorithm = inclusive ? new C14nCanonicalization() : new ExclusiveCanonicalization();
  // Its own is written in any case.
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

/** The namespaces that an element inherits: declared around it, of each prefix the nearest, and not by itself. */
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
