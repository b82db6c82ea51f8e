import type { SamlService } from './service.ts';
import { escapeXml, ns } from './xml.ts';

const redirect = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const post = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

/** The algorithms that Foyer decrypts, the preferred one first. */
const encryptions = [
  'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  'http://www.w3.org/2009/xmlenc11#aes192-gcm',
  'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  'http://www.w3.org/2009/xmlenc11#rsa-oaep',
];

/**
 * Foyer's metadata for a provider or its administrator (SAML 2.0 Metadata, section 2.4.4). Written here because the
 * library supports neither a logout by redirect nor a key that only signs logouts.
 */
export async function serviceMetadata(service: SamlService): Promise<string> {
  const { config, entityId, acs, logout, key, signing } = service;
  await signing.load();
  const signsRequests = signing.isOn();
  const certificate = key?.certificate.replace(/-----(BEGIN|END) CERTIFICATE-----|\s/g, '');
  const keyFor = (use: string, more = '') =>
    `<KeyDescriptor use="${use}"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${escapeXml(certificate ?? '')}` +
    `</ds:X509Certificate></ds:X509Data></ds:KeyInfo>${more}</KeyDescriptor>`;
  const methods = encryptions.map((algorithm) => `<EncryptionMethod Algorithm="${algorithm}"/>`).join('');
  const parts = [
    key && (signsRequests || logout !== undefined) ? keyFor('signing') : '',
    key && config.encryptedAssertions ? keyFor('encryption', methods) : '',
    ...[redirect, post].map((binding) =>
      logout === undefined ? '' : `<SingleLogoutService Binding="${binding}" Location="${escapeXml(logout)}"/>`,
    ),
    config.nameIdFormat === undefined ? '' : `<NameIDFormat>${escapeXml(config.nameIdFormat)}</NameIDFormat>`,
    `<AssertionConsumerService index="0" isDefault="true" Binding="${post}" Location="${escapeXml(acs)}"/>`,
  ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="${ns.signature}" entityID="${escapeXml(entityId)}">`,
    `<SPSSODescriptor protocolSupportEnumeration="${ns.protocol}" AuthnRequestsSigned="${signsRequests}" WantAssertionsSigned="true">`,
    ...parts.filter((part) => part !== ''),
    '</SPSSODescriptor>',
    '</EntityDescriptor>',
    '',
  ].join('\n');
}
