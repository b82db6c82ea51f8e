import { pemBody } from '../../sandbox/providers/index.ts';

/** SAML metadata as a product writes them; every part can be left out. */
export interface MetadataShape {
  entityId?: string;
  /** PEM: signing certificates. */
  signing?: readonly string[];
  /** PEM: an encryption certificate, which is not for signatures. */
  encryption?: string;
  signOn?: string | undefined;
  signOnByPost?: string;
  logout?: string;
  wantsSignedRequests?: boolean;
  formats?: readonly string[];
  validUntil?: string;
  displayName?: string;
  /** The ID attribute, for a signature. */
  id?: string;
  /** Elements before the IDPSSODescriptor: the WS-Federation roles of Microsoft's products. */
  before?: string;
}

const keyDescriptor = (use: string, pem: string) =>
  `<md:KeyDescriptor${use === '' ? '' : ` use="${use}"`}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>` +
  `<ds:X509Certificate>\n${pemBody(pem)}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;

const service = (name: string, binding: string, location: string | undefined) =>
  location === undefined
    ? ''
    : `<md:${name} Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${location}"/>`;

const userInterface = (name: string | undefined) =>
  name === undefined
    ? ''
    : `<md:Extensions><mdui:UIInfo xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui"><mdui:DisplayName xml:lang="en">${name}</mdui:DisplayName></mdui:UIInfo></md:Extensions>`;

/** An EntityDescriptor, without an XML declaration. */
export function entityDescriptor(shape: MetadataShape): string {
  const { entityId = 'https://idp.acme.example/metadata', signing = [], formats = [] } = shape;
  const { signOn, signOnByPost, logout, encryption, validUntil, displayName, id, before = '' } = shape;
  return [
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"${id === undefined ? '' : ` ID="${id}"`}`,
    `${validUntil === undefined ? '' : ` validUntil="${validUntil}"`} entityID="${entityId}">`,
    before,
    `<md:IDPSSODescriptor${shape.wantsSignedRequests === undefined ? '' : ` WantAuthnRequestsSigned="${shape.wantsSignedRequests}"`}`,
    ' protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">',
    userInterface(displayName),
    ...signing.map((pem) => keyDescriptor('signing', pem)),
    encryption === undefined ? '' : keyDescriptor('encryption', encryption),
    service('SingleLogoutService', 'HTTP-Redirect', logout),
    ...formats.map((format) => `<md:NameIDFormat>${format}</md:NameIDFormat>`),
    service('SingleSignOnService', 'HTTP-POST', signOnByPost),
    service('SingleSignOnService', 'HTTP-Redirect', 'signOn' in shape ? signOn : 'https://idp.acme.example/sso'),
    '</md:IDPSSODescriptor></md:EntityDescriptor>',
  ].join('');
}

export const metadataXml = (shape: MetadataShape): string =>
  `<?xml version="1.0" encoding="UTF-8"?><!-- written by a product -->\n${entityDescriptor(shape)}`;

/** A federation's document of several entities. */
export const entitiesXml = (...entities: string[]): string =>
  `<?xml version="1.0"?><md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" Name="a federation">${entities.join('')}</md:EntitiesDescriptor>`;

export const persistentFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
export const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

/** A discovery document. */
export const discoveryJson = (issuer: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    userinfo_endpoint: `${issuer}/userinfo`,
    scopes_supported: ['openid', 'profile', 'email'],
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    ...more,
  });
