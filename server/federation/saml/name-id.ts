import { decryptedText, type ServiceKey, undecipherable } from './decryption.ts';
import { children, childrenNamed, exactName, is, parseXml, requireOne, type XmlElement, xmlError } from './xml.ts';

/** The name of a person at the provider (SAML 2.0 Core, section 2.2). */
export interface SubjectName {
  nameId: string;
  nameIdFormat: string;
  nameQualifier: string | undefined;
  spNameQualifier: string | undefined;
}

const unspecifiedFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';

/**
 * The NameID of a subject or of a logout request, or its EncryptedID. The caller must have verified the signature around
 * it, so no other sender can try cipher texts.
 * @param options.key decrypts; undefined: none is configured
 * @param options.audience Foyer's entity id
 * @throws {FederationError} invalid
 */
export function readNameId(
  parent: XmlElement,
  { key, audience: recipient }: { key: ServiceKey | undefined; audience: string },
): SubjectName {
  const [encrypted, another] = childrenNamed(parent, 'assertion', 'EncryptedID');
  if (!encrypted) return nameIn(requireOne(parent, 'assertion', 'NameID'));
  if (another || childrenNamed(parent, 'assertion', 'NameID').length > 0)
    throw xmlError(`${parent.localName} has more than one NameID`);
  if (!key) throw xmlError('the NameID is encrypted, and there is no serviceProvider with a key');
  const text = decryptedText(encrypted, 'NameID', { key, recipient });
  if (text === undefined) throw undecipherable('NameID');
  const name = parseXml(text);
  if (!is(name, 'assertion', 'NameID')) throw xmlError('what is encrypted is no NameID');
  return nameIn(name);
}

function nameIn(name: XmlElement): SubjectName {
  if (children(name).length > 0) throw xmlError('the NameID has elements in it');
  const attribute = (of: string) => (name.hasAttribute(of) ? (name.getAttribute(of) ?? '') : undefined);
  return {
    nameId: exactName(name.textContent ?? '', 'the NameID'),
    nameIdFormat: attribute('Format') ?? unspecifiedFormat,
    nameQualifier: attribute('NameQualifier'),
    spNameQualifier: attribute('SPNameQualifier'),
  };
}
