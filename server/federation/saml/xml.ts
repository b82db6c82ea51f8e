import { DOMParser } from '@xmldom/xmldom';
import { FederationRefusal } from '../identity.ts';

/** The namespaces that SAML 2.0 speaks in. */
export const ns = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
} as const;
export type Namespace = keyof typeof ns;

/** Of an element of a document, what is read here. */
export interface XmlElement {
  readonly localName: string | null;
  readonly namespaceURI: string | null;
  readonly textContent: string | null;
  readonly parentNode: unknown;
  readonly firstChild: XmlNode | null;
  readonly attributes: ArrayLike<{ name: string; value: string }>;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  toString(): string;
}
interface XmlNode {
  readonly nodeType: number;
  readonly nextSibling: XmlNode | null;
}

const elementNode = 1;
/**
 * A message with two certificates and a list of groups has some hundred elements. What the library does with them takes time
 * by their square: a thousand keep the process busy for a quarter of a second, ten thousand for twenty.
 */
const mostElements = 1_000;
const mostAttributes = 2_000;
const deepest = 40;

export const invalid = (detail: string) => new FederationRefusal('invalid', detail);

/**
 * What an honest message never has, and what attacks are made of: document types (external entities, entities that
 * expand), comments (a NameID that is read up to one), sections that hide characters, instructions to the parser.
 */
function refuseConstructs(text: string): void {
  const at = text.indexOf('<!');
  if (at >= 0) {
    if (text.startsWith('<!--', at)) throw invalid('the message has a comment');
    if (text.startsWith('<![CDATA[', at)) throw invalid('the message has a CDATA section');
    throw invalid('the message has a document type');
  }
  if (text.replace(/^<\?xml [^<>?]*\?>/, '').includes('<?')) throw invalid('the message has a processing instruction');
  // Before it is parsed: more tags, or values, than so many elements can have.
  if (text.split('<', 2 * mostElements + 2).length > 2 * mostElements + 1)
    throw invalid('the message has too many elements');
  if (text.split(/=\s*["']/, mostAttributes + 2).length > mostAttributes + 1)
    throw invalid('the message has too many attributes');
}

/**
 * Parses a message that anybody may have sent.
 * @throws {FederationRefusal} invalid
 */
export function parseXml(text: string): XmlElement {
  refuseConstructs(text);
  let root: XmlElement | null;
  try {
    const stop = (message: string) => {
      throw new Error(message);
    };
    const parser = new DOMParser({ errorHandler: { warning: stop, error: stop, fatalError: stop } });
    root = parser.parseFromString(text, 'text/xml').documentElement as unknown as XmlElement | null;
  } catch {
    throw invalid('the message is no XML');
  }
  if (!root) throw invalid('the message is no XML');
  let [depth, elements] = [0, 0];
  for (let level = [root]; level.length > 0; level = level.flatMap(children)) {
    depth += 1;
    elements += level.length;
    if (depth > deepest) throw invalid('the message is too deep');
    if (elements > mostElements) throw invalid('the message has too many elements');
  }
  return root;
}

export function children(element: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  for (let node = element.firstChild; node; node = node.nextSibling) {
    if (node.nodeType === elementNode) found.push(node as unknown as XmlElement);
  }
  return found;
}

export const is = (element: XmlElement, namespace: Namespace, name: string): boolean =>
  element.namespaceURI === ns[namespace] && element.localName === name;

export const childrenNamed = (element: XmlElement, namespace: Namespace, name: string): XmlElement[] =>
  children(element).filter((child) => is(child, namespace, name));

/** @throws {FederationRefusal} invalid, unless there is exactly one */
export function only(element: XmlElement, namespace: Namespace, name: string): XmlElement {
  const [first, second] = childrenNamed(element, namespace, name);
  if (!first) throw invalid(`${element.localName} has no ${name}`);
  if (second) throw invalid(`${element.localName} has more than one ${name}`);
  return first;
}

/** An element and all that is in it. */
export function* everyElement(element: XmlElement): Generator<XmlElement> {
  yield element;
  for (const child of children(element)) yield* everyElement(child);
}

export const textOf = (element: XmlElement): string => (element.textContent ?? '').trim();

/**
 * A value that names a person, exactly as it was signed: providers compare these byte for byte (SAML 2.0 Core, section 8.3.7),
 * so a value that differs from another in space alone names another person.
 * @param what in the log
 * @throws {FederationRefusal} invalid, when the value has space around it: nobody can see which person is meant
 */
export function exactName(value: string, what: string): string {
  if (value !== value.trim()) throw invalid(`${what} has white space at its start or end`);
  return value;
}

/** The NameID of a subject or of a logout request. @throws {FederationRefusal} invalid */
export function nameIdOf(element: XmlElement): string {
  if (children(element).length > 0) throw invalid('the NameID has elements in it');
  return exactName(element.textContent ?? '', 'the NameID');
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/**
 * A time attribute in milliseconds since the epoch, undefined when absent (SAML 2.0 Core, section 1.3.3: always UTC).
 * @throws {FederationRefusal} invalid
 */
export function timeOf(element: XmlElement, name: string): number | undefined {
  if (!element.hasAttribute(name)) return undefined;
  const text = element.getAttribute(name) ?? '';
  const ms = instant.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(`${name} is no time`);
  return ms;
}

/** A signed element or message may come from a clock that is a little wrong. */
export const clockSkewMs = 5_000;

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
export const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');
