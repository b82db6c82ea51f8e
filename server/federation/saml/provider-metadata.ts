import { X509Certificate } from 'node:crypto';
import { FederationError } from '../identity.ts';
import {
  children,
  childrenNamed,
  elementText,
  everyElement,
  is,
  metadataLimits,
  parseXml,
  type XmlElement,
} from './xml.ts';

/** The metadata of an identity provider (SAML 2.0 Metadata, section 2.4.3). Nothing in it is trusted by itself. */
export interface ProviderMetadata {
  entityId: string;
  /** The earliest end of the element and of those around it. */
  validUntilMs: number | undefined;
  /** For people: the name that it gives to itself. */
  displayName: string | undefined;
  /** Addresses for requests by the HTTP-Redirect binding. */
  signOn: string[];
  /** Addresses for requests by the HTTP-POST binding. */
  signOnByPost: string[];
  logout: string[];
  nameIdFormats: string[];
  wantsSignedRequests: boolean;
  /** PEM, each once. */
  signing: string[];
}

const metadataNamespace = 'urn:oasis:names:tc:SAML:2.0:metadata';
const uiNamespace = 'urn:oasis:names:tc:SAML:metadata:ui';
const bindings = 'urn:oasis:names:tc:SAML:2.0:bindings:';
const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';

const isMetadata = (element: XmlElement, name: string): boolean =>
  element.namespaceURI === metadataNamespace && element.localName === name;
const named = (parent: XmlElement, name: string): XmlElement[] =>
  children(parent).filter((child) => isMetadata(child, name));

/** Comments are common in metadata. They are removed, because a parser could read text only up to one. */
const withoutComments = (text: string): string => text.replace(/<!--[\s\S]*?-->/g, '');

/** @throws {FederationError} invalid */
export const parseMetadataXml = (text: string): XmlElement => parseXml(withoutComments(text), metadataLimits);

/**
 * Reads the metadata of one identity provider.
 * @param entityId which one, if the document has several; a document with one entity may have another entityID
 * @throws {FederationError} invalid
 */
export function readProviderMetadata(root: XmlElement, entityId?: string): ProviderMetadata {
  const { entity, around } = chooseEntity(root, entityId);
  const [descriptor] = providerDescriptors(entity);
  if (!descriptor) throw new FederationError('invalid', 'no IDPSSODescriptor for SAML 2.0');
  const locations = (name: string, binding: string) =>
    named(descriptor, name)
      .filter((one) => one.getAttribute('Binding') === bindings + binding)
      .map((one) => one.getAttribute('Location') ?? '');
  return {
    entityId: entity.getAttribute('entityID') ?? '',
    validUntilMs: earliestEnd([...around, entity, descriptor]),
    displayName: displayNameIn(descriptor) ?? displayNameIn(entity),
    signOn: locations('SingleSignOnService', 'HTTP-Redirect'),
    signOnByPost: locations('SingleSignOnService', 'HTTP-POST'),
    logout: locations('SingleLogoutService', 'HTTP-Redirect'),
    nameIdFormats: named(descriptor, 'NameIDFormat').map(elementText),
    wantsSignedRequests: /^(true|1)$/.test((descriptor.getAttribute('WantAuthnRequestsSigned') ?? '').trim()),
    signing: signingCertificates(descriptor),
  };
}

const providerDescriptors = (entity: XmlElement): XmlElement[] =>
  named(entity, 'IDPSSODescriptor').filter((one) =>
    (one.getAttribute('protocolSupportEnumeration') ?? '').split(/\s+/).includes(protocol),
  );

interface ChosenEntity {
  entity: XmlElement;
  /** The elements around it. */
  around: XmlElement[];
}

function listEntities(element: XmlElement, around: XmlElement[] = []): ChosenEntity[] {
  if (isMetadata(element, 'EntityDescriptor')) return [{ entity: element, around }];
  if (!isMetadata(element, 'EntitiesDescriptor')) return [];
  return children(element).flatMap((child) => listEntities(child, [...around, element]));
}

function chooseEntity(root: XmlElement, entityId: string | undefined): ChosenEntity {
  const all = listEntities(root);
  const [only, other] = all;
  if (!only) throw new FederationError('invalid', 'no EntityDescriptor');
  if (!other) return only;
  const [first, second] = all.filter(({ entity }) =>
    entityId === undefined ? providerDescriptors(entity).length > 0 : entity.getAttribute('entityID') === entityId,
  );
  if (second) {
    const several = entityId === undefined ? 'several identity providers' : 'this entityID more than once';
    throw new FederationError('invalid', several);
  }
  if (!first) {
    const none = entityId === undefined ? 'no identity provider (IDPSSODescriptor)' : 'no such entityID';
    throw new FederationError('invalid', none);
  }
  return first;
}

/** @throws {FederationError} invalid, if an end is no time: it must not count as none */
function earliestEnd(elements: readonly XmlElement[]): number | undefined {
  const ends = elements
    .filter((one) => one.hasAttribute('validUntil'))
    .map((one) => Date.parse((one.getAttribute('validUntil') ?? '').trim()));
  if (ends.some(Number.isNaN)) throw new FederationError('invalid', 'validUntil is no time');
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Of the user interface elements (`mdui:DisplayName`), else of the organization; English first. */
function displayNameIn(element: XmlElement): string | undefined {
  const inside = children(element).filter((one) => isMetadata(one, 'Extensions') || isMetadata(one, 'Organization'));
  const names = inside
    .flatMap((one) => everyElement(one))
    .filter(
      (one) =>
        (one.namespaceURI === uiNamespace && one.localName === 'DisplayName') ||
        isMetadata(one, 'OrganizationDisplayName'),
    );
  const english = names.find((one) => /^en\b/i.test(one.getAttribute('xml:lang') ?? '')) ?? names[0];
  const text = english && elementText(english).replace(/\s+/g, ' ');
  return text === undefined || text === '' ? undefined : text;
}

function signingCertificates(descriptor: XmlElement): string[] {
  const all = named(descriptor, 'KeyDescriptor')
    .filter((key) => (key.getAttribute('use') ?? 'signing') === 'signing')
    .flatMap((key) => childrenNamed(key, 'signature', 'KeyInfo'))
    .flatMap((info) => everyElement(info))
    .filter((one) => is(one, 'signature', 'X509Certificate'))
    .map((one) => elementText(one).replace(/\s+/g, ''));
  return [...new Set(all)].map(toPem);
}

/** In lines of 64 characters (RFC 7468), as other tools expect. */
const toPem = (base64: string): string =>
  `-----BEGIN CERTIFICATE-----\n${(base64.match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----`;

/** Undefined: unreadable. */
export function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
