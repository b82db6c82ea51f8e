import { pemBody } from '../signer.ts';
import { names } from './xml.ts';

export const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const postBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';
const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

/** SAML 2.0 Metadata, section 2.4.3. */
export function metadata(entityId: string, certificate: string): string {
  const service = (name: string, path: string, binding = redirectBinding) =>
    `<md:${name} Binding="${binding}" Location="${entityId.replace(/\/metadata$/, path)}"/>`;
  return [
    `<?xml version="1.0"?><md:EntityDescriptor xmlns:md="${names.metadata}" entityID="${entityId}">`,
    `<md:IDPSSODescriptor WantAuthnRequestsSigned="false" protocolSupportEnumeration="${names.protocol}">`,
    `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="${names.ds}"><ds:X509Data><ds:X509Certificate>`,
    pemBody(certificate),
    '</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>',
    service('SingleLogoutService', '/slo'),
    `<md:NameIDFormat>${persistent}</md:NameIDFormat>`,
    service('SingleSignOnService', '/sso'),
    service('SingleSignOnService', '/sso', postBinding),
    '</md:IDPSSODescriptor></md:EntityDescriptor>',
  ].join('');
}
