import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes, X509Certificate } from 'node:crypto';
import { publicEncryptOaep } from 'xml-encryption/lib/oaep.js';

/** A SAML encryption by hand: the library knows fewer algorithms, and no attacks. */

const assertion = 'urn:oasis:names:tc:SAML:2.0:assertion';
const ds = 'http://www.w3.org/2000/09/xmldsig#';
const xenc = 'http://www.w3.org/2001/04/xmlenc#';
const xenc11 = 'http://www.w3.org/2009/xmlenc11#';

export const oaepDigests = {
  sha1: `${ds}sha1`,
  sha256: `${xenc}sha256`,
  sha384: `${xenc}sha384`,
  sha512: `${xenc}sha512`,
} as const;
export type OaepDigest = keyof typeof oaepDigests;

export const contentCiphers = {
  'aes-128-gcm': `${xenc11}aes128-gcm`,
  'aes-192-gcm': `${xenc11}aes192-gcm`,
  'aes-256-gcm': `${xenc11}aes256-gcm`,
  'aes-128-cbc': `${xenc}aes128-cbc`,
  'aes-256-cbc': `${xenc}aes256-cbc`,
} as const;
export type ContentCipher = keyof typeof contentCiphers;

export interface Sealing {
  /** The certificate of the recipient. */
  for: string;
  cipher?: ContentCipher;
  /** RSA-OAEP of XML Encryption 1.0, or of 1.1 with a digest of its own for MGF1; or PKCS #1 1.5. */
  form?: '1.0' | '1.1' | 'pkcs1';
  digest?: OaepDigest;
  mask?: OaepDigest;
  label?: string;
  element?: 'EncryptedAssertion' | 'EncryptedID';
  /** Where the EncryptedKey stands. */
  keyAt?: 'inside' | 'beside';
  /** Changes what was encrypted. */
  changeKey?(bytes: Buffer): Buffer;
  changeData?(bytes: Buffer): Buffer;
  /** The last byte of CBC's padding. */
  paddingLength?: number;
  /** Changes the XML. */
  change?(xml: string): string;
}

function sealedContent(text: string, { cipher = 'aes-256-gcm', paddingLength }: Sealing, secret: Buffer): Buffer {
  if (cipher === 'aes-128-cbc' || cipher === 'aes-256-cbc') {
    const iv = randomBytes(16);
    const plain = Buffer.from(text, 'utf8');
    const length = 16 - (plain.length % 16);
    const padding = randomBytes(length);
    padding[length - 1] = paddingLength ?? length;
    const cbc = createCipheriv(cipher, secret, iv).setAutoPadding(false);
    return Buffer.concat([iv, cbc.update(Buffer.concat([plain, padding])), cbc.final()]);
  }
  const iv = randomBytes(12);
  const gcm = createCipheriv(cipher, secret, iv);
  return Buffer.concat([iv, gcm.update(text, 'utf8'), gcm.final(), gcm.getAuthTag()]);
}

function wrappedKey(secret: Buffer, { for: certificate, form = '1.1', digest, mask, label }: Sealing): Buffer {
  const key = new X509Certificate(certificate).publicKey;
  if (form === 'pkcs1') return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, secret);
  const pem = createPublicKey(certificate).export({ type: 'spki', format: 'pem' }).toString();
  return publicEncryptOaep(pem, secret, {
    oaepHash: digest ?? 'sha1',
    mgf1Hash: form === '1.0' ? 'sha1' : (mask ?? 'sha1'),
    oaepLabel: Buffer.from(label ?? ''),
  });
}

const keyMethods = {
  '1.0': `${xenc}rsa-oaep-mgf1p`,
  '1.1': `${xenc11}rsa-oaep`,
  pkcs1: `${xenc}rsa-1_5`,
} as const;

/** @returns `<saml:EncryptedAssertion>` or `<saml:EncryptedID>` around the text's cipher text */
export function seal(text: string, sealing: Sealing): string {
  const { cipher = 'aes-256-gcm', form = '1.1', digest, mask, label, element = 'EncryptedAssertion' } = sealing;
  const secret = randomBytes(Number(cipher.slice(4, 7)) / 8);
  const [changeKey, changeData] = [sealing.changeKey ?? same, sealing.changeData ?? same];
  const value = (bytes: Buffer) =>
    `<xenc:CipherData><xenc:CipherValue>${bytes.toString('base64')}</xenc:CipherValue></xenc:CipherData>`;
  const key = [
    `<xenc:EncryptedKey Id="_key"><xenc:EncryptionMethod Algorithm="${keyMethods[form]}">`,
    label === undefined ? '' : `<xenc:OAEPparams>${Buffer.from(label).toString('base64')}</xenc:OAEPparams>`,
    digest === undefined ? '' : `<ds:DigestMethod xmlns:ds="${ds}" Algorithm="${oaepDigests[digest]}"/>`,
    mask === undefined ? '' : `<x11:MGF xmlns:x11="${xenc11}" Algorithm="${xenc11}mgf1${mask}"/>`,
    `</xenc:EncryptionMethod>${value(changeKey(wrappedKey(secret, sealing)))}</xenc:EncryptedKey>`,
  ].join('');
  const inside = (sealing.keyAt ?? 'inside') === 'inside';
  const info = inside ? key : '<ds:RetrievalMethod URI="#_key"/>';
  const xml = [
    `<saml:${element} xmlns:saml="${assertion}" xmlns:xenc="${xenc}">`,
    `<xenc:EncryptedData Type="${xenc}Element"><xenc:EncryptionMethod Algorithm="${contentCiphers[cipher]}"/>`,
    `<ds:KeyInfo xmlns:ds="${ds}">${info}</ds:KeyInfo>${value(changeData(sealedContent(text, sealing, secret)))}`,
    `</xenc:EncryptedData>${inside ? '' : key}</saml:${element}>`,
  ].join('');
  return sealing.change?.(xml) ?? xml;
}

const same = (bytes: Buffer) => bytes;
