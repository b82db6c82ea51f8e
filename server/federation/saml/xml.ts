import { DOMParser } from '@xmldom/xmldom';
import { FederationError } from '../identity.ts';

/** The namespaces of SAML 2.0. */
export const ns = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
  encryption11: 'http://www.w3.org/2009/xmlenc11#',
} as const;
type Namespace = keyof typeof ns;

interface XmlNode {
  readonly nodeType: number;
  readonly nextSibling: XmlNode | null;
}
/** The members of an element that this module uses: the library has only a part of those that its types declare. */
export interface XmlElement extends XmlNode {
  readonly localName: string | null;
  readonly prefix: string | null;
  readonly namespaceURI: string | null;
  readonly textContent: string | null;
  readonly parentNode: unknown;
  readonly firstChild: XmlNode | null;
  readonly attributes: ArrayLike<{ name: string; value: string }>;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  removeChild(child: XmlNode): unknown;
  insertBefore(child: XmlNode, before: XmlNode | null): unknown;
  toString(): string;
}

const elementNode = 1;
const isElement = (node: XmlNode): node is XmlElement => node.nodeType === elementNode;

/** The limits of a message: the parsing time grows with each of these, for some quadratically. */
interface Limits {
  characters: number;
  /** Ampersands, quotation marks and greater-than signs, including those of tags: each is replaced separately. */
  escapes: number;
  elements: number;
  attributes: number;
  /** Declared anywhere. */
  namespaces: number;
  /** Attributes and namespaces of one element. */
  attributesOfOne: number;
  depth: number;
}

/** A response with two signatures, three certificates and a list of 150 groups has some 200 elements. */
const messageLimits: Limits = {
  characters: 131_072,
  escapes: 8_000,
  elements: 300,
  attributes: 800,
  namespaces: 400,
  attributesOfOne: 20,
  depth: 20,
};
/** Only an operator's command reads metadata, of a provider that the operator chose. */
export const metadataLimits: Limits = {
  characters: 1_048_576,
  escapes: 80_000,
  elements: 3_000,
  attributes: 6_000,
  namespaces: 3_000,
  attributesOfOne: 100,
  depth: 40,
};

export const xmlError = (detail: string, count?: number) =>
  new FederationError('invalid', detail, count === undefined ? {} : { count });

/** The number of start tags, of a text whose length was checked. */
const countStarts = (text: string): number => text.split(/<(?!\/)/).length - 1;

/**
 * Refuses constructs that real messages never have and that attacks need: document types (external or expanding
 * entities), comments (a NameID that is read up to one), CDATA sections, processing instructions.
 */
function refuseConstructs(text: string, max: Limits): void {
  if (text.length > max.characters) throw xmlError('the message is too long');
  // It was decoded as UTF-8; a parser with another encoding would read other text.
  if (/^<\?xml [^<>?]*encoding\s*=\s*["'](?!utf-8["'])/i.test(text))
    throw xmlError('the message says that it is in another encoding than UTF-8');
  const at = text.indexOf('<!');
  if (at >= 0) {
    if (text.startsWith('<!--', at)) throw xmlError('the message has a comment');
    if (text.startsWith('<![CDATA[', at)) throw xmlError('the message has a CDATA section');
    throw xmlError('the message has a document type');
  }
  if (text.replace(/^<\?xml [^<>?]*\?>/, '').includes('<?')) throw xmlError('the message has a processing instruction');
  // The parser treats invalid references as text.
  if (/&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/i.test(text)) throw xmlError('the message is no XML');
  // Before parsing: more tags or values than this number of elements can have.
  if (text.split('<', 2 * max.elements + 2).length > 2 * max.elements + 1)
    throw xmlError('the message has too many elements', countStarts(text));
  const values = text.split(/=\s*["']/).length - 1;
  if (values > max.attributes) throw xmlError('the message has too many attributes', values);
  if (text.split(/\sxmlns[:=]/, max.namespaces + 2).length > max.namespaces + 1)
    throw xmlError('the message has too many namespaces');
  if (text.split(/[&">]/, max.escapes + 2).length > max.escapes + 1)
    throw xmlError('the message has too many characters that are escaped');
}

/**
 * Parses an untrusted message.
 * @throws {FederationError} invalid
 */
export function parseXml(text: string, max: Limits = messageLimits): XmlElement {
  refuseConstructs(text, max);
  let root: XmlElement | null;
  try {
    const stop = (message: string) => {
      throw new Error(message);
    };
    const parser = new DOMParser({ errorHandler: { warning: stop, error: stop, fatalError: stop } });
    root = parser.parseFromString(text, 'text/xml').documentElement;
  } catch {
    throw xmlError('the message is no XML');
  }
  if (!root) throw xmlError('the message is no XML');
  let [depth, elements] = [0, 0];
  for (let level = [root]; level.length > 0; level = level.flatMap(children)) {
    depth += 1;
    elements += level.length;
    if (depth > max.depth) throw xmlError('the message is too deep');
    if (elements > max.elements) throw xmlError('the message has too many elements', elements);
    if (level.some(({ attributes }) => attributes.length > max.attributesOfOne))
      throw xmlError('an element of the message has too many attributes');
  }
  return root;
}

export function children(element: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  for (let node = element.firstChild; node; node = node.nextSibling) {
    if (isElement(node)) found.push(node);
  }
  return found;
}

export const is = (element: XmlElement, namespace: Namespace, name: string): boolean =>
  element.namespaceURI === ns[namespace] && element.localName === name;

export const childrenNamed = (element: XmlElement, namespace: Namespace, name: string): XmlElement[] =>
  children(element).filter((child) => is(child, namespace, name));

/** @throws {FederationError} invalid, unless there is exactly one */
export function requireOne(element: XmlElement, namespace: Namespace, name: string): XmlElement {
  const [first, second] = childrenNamed(element, namespace, name);
  if (!first) throw xmlError(`${element.localName} has no ${name}`);
  if (second) throw xmlError(`${element.localName} has more than one ${name}`);
  return first;
}

/** An element and all its descendants, in document order. */
export function everyElement(element: XmlElement, found: XmlElement[] = []): XmlElement[] {
  found.push(element);
  for (const child of children(element)) everyElement(child, found);
  return found;
}

export const elementText = (element: XmlElement): string => (element.textContent ?? '').trim();

/**
 * A name of a person, exactly as it was signed: providers compare these byte for byte (SAML 2.0 Core, section 8.3.7),
 * so a value that differs only in space names another person.
 * @param what name in the log
 * @throws {FederationError} invalid, if the value has space around it: its meaning would be ambiguous
 */
export function exactName(value: string, what: string): string {
  if (value !== value.trim()) throw xmlError(`${what} has white space at its start or end`);
  return value;
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/**
 * A time attribute in milliseconds since the epoch, undefined if absent (SAML 2.0 Core, section 1.3.3: always UTC).
 * @throws {FederationError} invalid
 */
export function readTime(element: XmlElement, name: string): number | undefined {
  if (!element.hasAttribute(name)) return undefined;
  const text = element.getAttribute(name) ?? '';
  const ms = instant.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw xmlError(`${name} is no time`);
  return ms;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
export const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');
