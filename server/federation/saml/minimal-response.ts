import { namespacesAround } from './canonical.ts';
import { children, escapeXml, is, requireOne, type XmlElement } from './xml.ts';

/**
 * A response with only the assertion and its signed content. The library reads each element of its input several times,
 * including unsigned ones that an attacker added to the response, or to the KeyInfo of a signature.
 * @param assertion with its one signature; parts of that are removed
 */
export function minimalResponse(assertion: XmlElement, inResponseTo: string | undefined): string {
  const signature = requireOne(assertion, 'signature', 'Signature');
  for (const child of children(signature)) {
    if (!is(child, 'signature', 'SignedInfo') && !is(child, 'signature', 'SignatureValue'))
      signature.removeChild(child);
  }
  const attributes = namespacesAround(assertion).map(({ prefix, namespaceURI }) => ({
    name: prefix === '' ? 'xmlns' : `xmlns:${prefix}`,
    value: namespaceURI,
  }));
  if (inResponseTo !== undefined) attributes.push({ name: 'InResponseTo', value: inResponseTo });
  const written = attributes.map(({ name, value }) => ` ${name}="${escapeXml(value)}"`).join('');
  return `<Response${written}>${assertionXml(assertion)}</Response>`;
}

/** A parser converts these to line feeds, so they must stay references. */
const assertionXml = (assertion: XmlElement): string =>
  assertion.toString().replace(/[\r\u0085\u2028]/g, (character) => `&#${character.charCodeAt(0)};`);
