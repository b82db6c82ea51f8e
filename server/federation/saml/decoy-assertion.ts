import { ns } from './xml.ts';

const xmldsigMore = 'http://www.w3.org/2001/04/xmldsig-more#';
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
/** As long as that of the usual key; no key has made it. */
const signatureValue = Buffer.alloc(256, 90).toString('base64');
const attribute = '<saml:Attribute Name="urn:none"><saml:AttributeValue>none</saml:AttributeValue></saml:Attribute>';
const maxAttributes = 100;

/** An assertion that is never accepted, about as large as one of which the cipher text has so many characters. */
export const decoyAssertion = (characters: number): string =>
  [
    `<saml:Assertion xmlns:saml="${ns.assertion}" ID="_" Version="2.0"><saml:Issuer>none</saml:Issuer>`,
    `<ds:Signature xmlns:ds="${ns.signature}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="${exclusive}"/>`,
    `<ds:SignatureMethod Algorithm="${xmldsigMore}rsa-sha256"/><ds:Reference URI="#_"><ds:Transforms>`,
    `<ds:Transform Algorithm="${ns.signature}enveloped-signature"/><ds:Transform Algorithm="${exclusive}"/>`,
    `</ds:Transforms><ds:DigestMethod Algorithm="${ns.encryption}sha256"/><ds:DigestValue>AA==</ds:DigestValue>`,
    `</ds:Reference></ds:SignedInfo><ds:SignatureValue>${signatureValue}</ds:SignatureValue></ds:Signature>`,
    `<saml:AttributeStatement>${attribute.repeat(Math.min(maxAttributes, Math.ceil(characters / 200)))}`,
    '</saml:AttributeStatement></saml:Assertion>',
  ].join('');
