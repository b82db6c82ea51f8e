import {
  constants,
  createDecipheriv,
  createPrivateKey,
  type KeyObject,
  privateDecrypt,
  randomBytes,
} from 'node:crypto';
import { privateDecryptOaep } from 'xml-encryption/lib/oaep.js';
import { children, childrenNamed, ns, requireOne, type XmlElement, xmlError } from './xml.ts';

/*
 * XML Encryption 1.1 as SAML uses it (SAML 2.0 Core, section 6): one EncryptedData, and its key for RSA-OAEP. The library
 * lacks AES-192 and SHA-384, and takes an unknown digest for SHA-1; its code for RSA-OAEP is used, see padding below.
 */

/** Foyer's own pair as a service provider. */
export interface ServiceKey {
  privateKey: string;
  certificate: string;
}

/** The digests of RSA-OAEP by their names in Node.js (XML Encryption 1.1, sections 5.5.2 and 5.7). */
const digests = new Map<string, string>(
  Object.entries({
    [`${ns.signature}sha1`]: 'sha1',
    [`${ns.encryption}sha256`]: 'sha256',
    [`${ns.encryption}sha384`]: 'sha384',
    'http://www.w3.org/2001/04/xmldsig-more#sha384': 'sha384',
    [`${ns.encryption}sha512`]: 'sha512',
    // Some libraries write these.
    [`${ns.signature}sha256`]: 'sha256',
    [`${ns.signature}sha512`]: 'sha512',
  }),
);
const maskDigests = new Map<string, string>(
  Object.entries({
    [`${ns.encryption11}mgf1sha1`]: 'sha1',
    [`${ns.encryption11}mgf1sha256`]: 'sha256',
    [`${ns.encryption11}mgf1sha384`]: 'sha384',
    [`${ns.encryption11}mgf1sha512`]: 'sha512',
  }),
);

interface DataCipher {
  name: 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' | 'aes-128-cbc' | 'aes-256-cbc';
  keyBytes: number;
}
/** Triple DES is insecure. */
const dataCiphers = new Map<string, DataCipher>(
  Object.entries({
    [`${ns.encryption11}aes128-gcm`]: { name: 'aes-128-gcm', keyBytes: 16 },
    [`${ns.encryption11}aes192-gcm`]: { name: 'aes-192-gcm', keyBytes: 24 },
    [`${ns.encryption11}aes256-gcm`]: { name: 'aes-256-gcm', keyBytes: 32 },
    [`${ns.encryption}aes128-cbc`]: { name: 'aes-128-cbc', keyBytes: 16 },
    [`${ns.encryption}aes256-cbc`]: { name: 'aes-256-cbc', keyBytes: 32 },
  }),
);

const algorithmIn = (element: XmlElement | undefined): string => element?.getAttribute('Algorithm') ?? '';

/** The encrypted part, as the log names it. */
type EncryptedPart = 'assertion' | 'NameID';
const unaccepted = (what: EncryptedPart) => xmlError(`the ${what} is encrypted in a way that is not accepted`);
export const undecipherable = (what: EncryptedPart) => xmlError(`the ${what} cannot be decrypted`);

/**
 * Decrypts an EncryptedAssertion or EncryptedID. Wrong padding, a wrong tag and a wrong key have the same result at the
 * same place, so that no answer shows which of them it was.
 * @param recipient Foyer's entity id: among keys for several recipients it names Foyer's
 * @returns undefined: it cannot be decrypted
 * @throws {FederationError} invalid, because of what everybody can read: form or algorithms
 */
export function decryptedText(
  encrypted: XmlElement,
  what: EncryptedPart,
  { key, recipient }: { key: ServiceKey; recipient: string },
): string | undefined {
  const data = requireOne(encrypted, 'encryption', 'EncryptedData');
  const cipher = dataCiphers.get(algorithmIn(requireOne(data, 'encryption', 'EncryptionMethod')));
  if (!cipher) throw unaccepted(what);
  const wrapped = encryptedKey(encrypted, data, recipient);
  const padding = oaepPadding(requireOne(wrapped, 'encryption', 'EncryptionMethod'));
  if (!padding) throw unaccepted(what);
  const [keyBytes, dataBytes] = [cipherBytes(wrapped), cipherBytes(data)];
  // Drawn in any case: without the right key the data are decrypted by this one, which fails as other data do.
  const decoy = randomBytes(cipher.keyBytes);
  const secret = unwrapped(keyBytes, padding, key);
  const text = decipher(dataBytes, cipher, secret?.length === cipher.keyBytes ? secret : decoy);
  try {
    return text && new TextDecoder('utf-8', { fatal: true }).decode(text);
  } catch {
    return undefined;
  }
}

/** In the data's KeyInfo, or beside the data (SAML 2.0 Core, section 2.2.4). References are never followed. */
function encryptedKey(encrypted: XmlElement, data: XmlElement, recipient: string): XmlElement {
  const keys = [...childrenNamed(data, 'signature', 'KeyInfo'), encrypted].flatMap((parent) =>
    childrenNamed(parent, 'encryption', 'EncryptedKey'),
  );
  const own = keys.length > 1 ? keys.filter((one) => one.getAttribute('Recipient') === recipient) : keys;
  const [first, second] = own;
  if (!first || second) throw xmlError(`EncryptedData has ${first ? 'more than one' : 'no'} EncryptedKey for Foyer`);
  return first;
}

/** RSA-OAEP's parameters. MGF1 has a digest of its own (XML Encryption 1.1, section 5.5.2). */
interface OaepPadding {
  digestName: string;
  maskName: string;
  label: Buffer;
}

const maxLabelCharacters = 1_000;

/** @returns undefined: it is not accepted, as RSA with PKCS #1 1.5 padding, which tells what is inside (Bleichenbacher) */
function oaepPadding(method: XmlElement): OaepPadding | undefined {
  const first = (namespace: 'signature' | 'encryption' | 'encryption11', name: string) =>
    childrenNamed(method, namespace, name)[0];
  const [digestMethod, mask, params] = [
    first('signature', 'DigestMethod'),
    first('encryption11', 'MGF'),
    first('encryption', 'OAEPparams'),
  ];
  const digestName = digestMethod ? digests.get(algorithmIn(digestMethod)) : 'sha1';
  const label = params?.textContent ?? '';
  const maskName = maskNameIn(method, mask);
  if (digestName === undefined || maskName === undefined || label.length > maxLabelCharacters) return undefined;
  return { digestName, maskName, label: Buffer.from(label, 'base64') };
}

/** In the form of XML Encryption 1.0 it is SHA-1, and no element may name it (XML Encryption 1.1, section 5.5.2). */
function maskNameIn(method: XmlElement, mask: XmlElement | undefined): string | undefined {
  const algorithm = algorithmIn(method);
  if (algorithm === `${ns.encryption}rsa-oaep-mgf1p`) return mask ? undefined : 'sha1';
  if (algorithm !== `${ns.encryption11}rsa-oaep`) return undefined;
  return mask ? maskDigests.get(algorithmIn(mask)) : 'sha1';
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A CipherReference, which would be fetched, is no CipherValue. */
function cipherBytes(element: XmlElement): Buffer {
  const value = requireOne(requireOne(element, 'encryption', 'CipherData'), 'encryption', 'CipherValue');
  const text = (value.textContent ?? '').replace(/\s+/g, '');
  if (children(value).length > 0 || !base64.test(text)) throw xmlError('a CipherValue is not in base64');
  return Buffer.from(text, 'base64');
}

/** Reading a key takes as long as using it. */
const keyObjects = new WeakMap<ServiceKey, KeyObject>();

function keyObject(key: ServiceKey): KeyObject {
  const known = keyObjects.get(key) ?? createPrivateKey(key.privateKey);
  keyObjects.set(key, known);
  return known;
}

/** OpenSSL's and the library's code take the same time for every wrong padding (RFC 8017, section 7.1.2). */
function unwrapped(bytes: Buffer, { digestName, maskName, label }: OaepPadding, key: ServiceKey): Buffer | undefined {
  try {
    // Node.js takes one digest for both purposes.
    if (maskName !== digestName) {
      const options = { oaepHash: digestName, mgf1Hash: maskName, oaepLabel: label };
      return privateDecryptOaep(key.privateKey, bytes, options);
    }
    const options = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: digestName };
    return privateDecrypt({ key: keyObject(key), ...options, ...(label.length > 0 && { oaepLabel: label }) }, bytes);
  } catch {
    return undefined;
  }
}

const tagBytes = 16;
const blockBytes = 16;

/** XML Encryption 1.1, sections 5.2.2 to 5.2.4. */
function decipher(bytes: Buffer, { name }: DataCipher, secret: Buffer): Buffer | undefined {
  try {
    if (name === 'aes-128-cbc' || name === 'aes-256-cbc') {
      const cbc = createDecipheriv(name, secret, bytes.subarray(0, blockBytes)).setAutoPadding(false);
      const padded = Buffer.concat([cbc.update(bytes.subarray(blockBytes)), cbc.final()]);
      // The last byte is the length of the padding, whose other bytes may be any (section 5.2.1).
      const length = padded.at(-1) ?? 0;
      return length >= 1 && length <= blockBytes ? padded.subarray(0, -length) : undefined;
    }
    const gcm = createDecipheriv(name, secret, bytes.subarray(0, 12), { authTagLength: tagBytes });
    gcm.setAuthTag(bytes.subarray(Math.max(12, bytes.length - tagBytes)));
    return Buffer.concat([gcm.update(bytes.subarray(12, -tagBytes)), gcm.final()]);
  } catch {
    return undefined;
  }
}
