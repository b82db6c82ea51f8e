import { randomBytes, X509Certificate } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import { encrypt } from 'xml-encryption';
import type { Signer } from '../signer.ts';
import { attribute, c14n, instant, names, xmlText } from './xml.ts';

type Attributes = Record<string, string | readonly string[] | undefined>;

/**
 * All variable parts of a SAML Response (SAML 2.0 Core, sections 2 and 3; Web Browser SSO Profile, section 4.1.4). null
 * omits a part. Times are milliseconds since the epoch.
 */
export interface SamlResponseOptions {
  responseId?: string;
  assertionId?: string;
  /** For the response, and for the assertion unless that has its own. */
  issuer?: string | null;
  assertionIssuer?: string | null;
  destination?: string | null;
  recipient?: string | null;
  audience?: string | readonly string[] | null;
  /** For the response, and for the subject unless that has its own. */
  inResponseTo?: string | null;
  subjectInResponseTo?: string | null;
  nameId?: string | null;
  nameIdFormat?: string;
  sessionIndex?: string | null;
  attributes?: Attributes;
  issuedAtMs?: number;
  notBeforeMs?: number | null;
  notOnOrAfterMs?: number | null;
  /** For the subject; by default `notOnOrAfterMs`. */
  subjectNotOnOrAfterMs?: number | null;
  /** The last part of the top status code: Success, Requester, Responder. Others have no assertion. */
  status?: string;
  /** The code below, and the message: AuthnFailed … */
  subStatus?: string;
  statusMessage?: string;
  /** The signed parts; both by default. */
  sign?: 'both' | 'response' | 'assertion' | 'none';
  signer?: Signer;
  /** Weaker ones are for tests. */
  signatureAlgorithm?: 'rsa-sha256' | 'rsa-sha1' | 'rsa-sha512';
  /** The assertion is encrypted for this certificate (PEM). */
  encryptFor?: string;
  /** Replaces the whole assertion: for tests that bring their own. */
  assertion?: string;
  /** Text before `<samlp:Response`, for example a document type. */
  prolog?: string;
  /** Changes the assertion, or the whole response, before each is signed. */
  assertionBeforeSigning?(xml: string): string;
  responseBeforeSigning?(xml: string): string;
  /** Changes the whole response after all signatures. */
  afterSigning?(xml: string): string;
}

export const newSamlId = (): string => `_${randomBytes(20).toString('hex')}`;

const signatureAlgorithms = {
  'rsa-sha1': 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
  'rsa-sha256': 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'rsa-sha512': 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
} as const;
const digestAlgorithms = {
  'rsa-sha1': 'http://www.w3.org/2000/09/xmldsig#sha1',
  'rsa-sha256': 'http://www.w3.org/2001/04/xmlenc#sha256',
  'rsa-sha512': 'http://www.w3.org/2001/04/xmlenc#sha512',
} as const;

/** Signs the element with this ID (XML Signature, enveloped); the signature follows its Issuer, as SAML requires. */
export function signElement(
  xml: string,
  id: string,
  { privateKey, certificate, algorithm = 'rsa-sha256' }: Signer & { algorithm?: keyof typeof signatureAlgorithms },
): string {
  const element = `//*[@ID='${id}']`;
  const signed = new SignedXml({
    privateKey,
    publicCert: certificate,
    signatureAlgorithm: signatureAlgorithms[algorithm],
    canonicalizationAlgorithm: c14n,
  });
  signed.addReference({
    xpath: element,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', c14n],
    digestAlgorithm: digestAlgorithms[algorithm],
  });
  const hasIssuer = new RegExp(`ID="${id}"[^>]*>\\s*<saml:Issuer`).test(xml);
  signed.computeSignature(xml, {
    prefix: 'ds',
    location: hasIssuer
      ? { reference: `${element}/*[local-name(.)='Issuer']`, action: 'after' }
      : { reference: element, action: 'prepend' },
  });
  return signed.getSignedXml();
}

function attributeStatement(attributes: Attributes): string {
  const lines = Object.entries(attributes).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const values = (typeof value === 'string' ? [value] : value).map(
      (one) =>
        `<saml:AttributeValue xmlns:xs="${names.xs}" xmlns:xsi="${names.xsi}" xsi:type="xs:string">${xmlText(one)}</saml:AttributeValue>`,
    );
    return [
      `<saml:Attribute${attribute('Name', name)} NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic">${values.join('')}</saml:Attribute>`,
    ];
  });
  return lines.length === 0 ? '' : `<saml:AttributeStatement>${lines.join('')}</saml:AttributeStatement>`;
}

function buildAssertion(options: SamlResponseOptions & { assertionId: string; issuedAtMs: number }): string {
  const { assertionId, issuedAtMs, nameId, notBeforeMs, notOnOrAfterMs, sessionIndex } = options;
  const issuer = options.assertionIssuer === undefined ? options.issuer : options.assertionIssuer;
  const inResponseTo = options.subjectInResponseTo === undefined ? options.inResponseTo : options.subjectInResponseTo;
  const subjectNotOnOrAfterMs =
    options.subjectNotOnOrAfterMs === undefined ? notOnOrAfterMs : options.subjectNotOnOrAfterMs;
  const audiences = typeof options.audience === 'string' ? [options.audience] : (options.audience ?? []);
  const audience = audiences.map((one) => `<saml:Audience>${xmlText(one)}</saml:Audience>`).join('');
  return [
    `<saml:Assertion xmlns:saml="${names.assertion}" ID="${assertionId}" Version="2.0" IssueInstant="${instant(issuedAtMs)}">`,
    issuer ? `<saml:Issuer>${xmlText(issuer)}</saml:Issuer>` : '',
    '<saml:Subject>',
    nameId ? `<saml:NameID${attribute('Format', options.nameIdFormat)}>${xmlText(nameId)}</saml:NameID>` : '',
    '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData',
    attribute('InResponseTo', inResponseTo),
    attribute('Recipient', options.recipient),
    attribute('NotOnOrAfter', subjectNotOnOrAfterMs && instant(subjectNotOnOrAfterMs)),
    '/></saml:SubjectConfirmation></saml:Subject>',
    `<saml:Conditions${attribute('NotBefore', notBeforeMs && instant(notBeforeMs))}${attribute('NotOnOrAfter', notOnOrAfterMs && instant(notOnOrAfterMs))}>`,
    audience === '' ? '' : `<saml:AudienceRestriction>${audience}</saml:AudienceRestriction>`,
    '</saml:Conditions>',
    `<saml:AuthnStatement AuthnInstant="${instant(issuedAtMs)}"${attribute('SessionIndex', sessionIndex)}><saml:AuthnContext>`,
    '<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml:AuthnContextClassRef>',
    '</saml:AuthnContext></saml:AuthnStatement>',
    attributeStatement(options.attributes ?? {}),
    '</saml:Assertion>',
  ].join('');
}

const encrypted = (assertion: string, certificate: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const publicKey = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const algorithms = {
      encryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
      keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
    } as const;
    encrypt(assertion, { rsa_pub: publicKey, pem: certificate, ...algorithms }, (error, result) =>
      error
        ? reject(error)
        : resolve(`<saml:EncryptedAssertion xmlns:saml="${names.assertion}">${result}</saml:EncryptedAssertion>`),
    );
  });

function buildStatus({ status = 'Success', subStatus, statusMessage }: SamlResponseOptions): string {
  const code = (name: string, inner = '') => {
    const value = `Value="urn:oasis:names:tc:SAML:2.0:status:${xmlText(name)}"`;
    return inner === '' ? `<samlp:StatusCode ${value}/>` : `<samlp:StatusCode ${value}>${inner}</samlp:StatusCode>`;
  };
  const message =
    statusMessage === undefined ? '' : `<samlp:StatusMessage>${xmlText(statusMessage)}</samlp:StatusMessage>`;
  return `<samlp:Status>${code(status, subStatus === undefined ? '' : code(subStatus))}${message}</samlp:Status>`;
}

/** @returns the Response's XML; the HTTP-POST binding sends it in base64 */
export async function buildSamlResponse(input: SamlResponseOptions): Promise<string> {
  const options = { responseId: newSamlId(), assertionId: newSamlId(), issuedAtMs: Date.now(), ...input };
  const { responseId, assertionId, issuedAtMs, issuer, sign = 'both', signer, signatureAlgorithm } = options;
  const signingKey = signer && { ...signer, algorithm: signatureAlgorithm };
  const signs = (part: 'response' | 'assertion') => sign === 'both' || sign === part;
  const change = (xml: string, by: ((xml: string) => string) | undefined) => by?.(xml) ?? xml;
  let assertion = '';
  if (options.assertion !== undefined) assertion = options.assertion;
  else if ((options.status ?? 'Success') === 'Success') {
    assertion = change(buildAssertion(options), options.assertionBeforeSigning);
    if (signingKey && signs('assertion')) assertion = signElement(assertion, assertionId, signingKey);
    if (options.encryptFor !== undefined) assertion = await encrypted(assertion, options.encryptFor);
  }
  const head = [
    `<samlp:Response xmlns:samlp="${names.protocol}" xmlns:saml="${names.assertion}" ID="${responseId}" Version="2.0"`,
    ` IssueInstant="${instant(issuedAtMs)}"`,
    attribute('Destination', options.destination),
    attribute('InResponseTo', options.inResponseTo),
    '>',
  ].join('');
  const issued = issuer ? `<saml:Issuer>${xmlText(issuer)}</saml:Issuer>` : '';
  let response = `${head}${issued}${buildStatus(options)}${assertion}</samlp:Response>`;
  response = change(response, options.responseBeforeSigning);
  if (signingKey && signs('response')) response = signElement(response, responseId, signingKey);
  return change(`${options.prolog ?? ''}${response}`, options.afterSigning);
}
