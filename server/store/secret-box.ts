import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomFillSync } from 'node:crypto';
import { type SealedText, toSealedText } from '../shared/index.ts';

/** AES-256-GCM as NIST SP 800-38D recommends it. */
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 6;

/**
 * A key for one purpose, derived from SECRET_KEY by HKDF-SHA-256 (RFC 5869) with the purpose as `info`: keys of
 * different purposes reveal nothing about each other or about SECRET_KEY.
 */
export function deriveKey(secretKey: string, purpose: string, bytes: number): Buffer {
  if (secretKey === '') throw new RangeError('SECRET_KEY is empty');
  return Buffer.from(hkdfSync('sha256', secretKey, 'foyer', purpose, bytes));
}

/** A sealed value that cannot be opened: sealed with a removed key, for another place, or changed. */
export class UnsealError extends Error {
  override name = 'SealBroken';
}

/** Encrypts and authenticates short texts for storage. */
export interface SecretBox {
  /**
   * @param aad the place of the value, for example table, column and row. It is not stored, must be the same when
   * opening, and prevents that a sealed value is moved to another place.
   * @returns `<key id>.<iv, ciphertext and tag in base64url>`
   */
  seal(plain: string, aad?: string): SealedText;
  /** @throws {UnsealError} */
  open(sealed: SealedText, aad?: string): string;
}

/**
 * @param secretKeys the first seals and all open, so that SECRET_KEY can be replaced without losing data.
 * @param purpose of the sealed values; each purpose has its own key. With random IVs two of 2^32 seals under one key
 * share an IV with probability 2^-33, the limit of SP 800-38D (section 8.3); at a hundred seals a second that is 16
 * months, and ten times as many are still below 2^-26.
 */
export function createSecretBox(secretKeys: readonly string[], purpose: string): SecretBox {
  const keys = secretKeys.map((secretKey) => ({
    id: deriveKey(secretKey, `key id of ${purpose}`, KEY_ID_BYTES).toString('base64url'),
    // As a KeyObject: with raw bytes every operation would import the key again, at seven times the cost.
    key: createSecretKey(deriveKey(secretKey, `seal ${purpose}`, KEY_BYTES)),
  }));
  const [sealing] = keys;
  if (!sealing) throw new RangeError('A secret box needs at least one key');
  const keyById = new Map(keys.map(({ id, key }) => [id, key]));

  return {
    seal(plain, aad = '') {
      const iv = nextIv();
      const cipher = createCipheriv(CIPHER, sealing.key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(aad));
      const bytes = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return toSealedText(`${sealing.id}.${bytes.toString('base64url')}`);
    },
    open(sealed, aad = '') {
      const dot = sealed.indexOf('.');
      const key = keyById.get(sealed.slice(0, dot));
      if (!key) throw new UnsealError(`Sealed with a key that is not among the ${keys.length} known for ${purpose}`);
      const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url');
      if (bytes.length < IV_BYTES + TAG_BYTES) throw new UnsealError(`Too short to be sealed for ${purpose}`);
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(aad));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const plain = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([plain, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new UnsealError(`Changed, or sealed for another place than this one of ${purpose}`, { cause });
      }
    },
  };
}

/**
 * A box with a cache: the same sealed text in the same place needs no work again. For records that are read soon after
 * they were written, or repeatedly; meanwhile they are in this process's memory.
 * @param max the maximum number of places; the oldest are removed first
 */
export function cachingSecretBox(box: SecretBox, max = 4_000): SecretBox {
  const places = new Map<string, { sealed: SealedText; plain: string }>();
  function remember(aad: string, sealed: SealedText, plain: string): void {
    places.delete(aad);
    if (places.size >= max) {
      for (const oldest of places.keys()) {
        places.delete(oldest);
        break;
      }
    }
    places.set(aad, { sealed, plain });
  }
  return {
    seal(plain, aad = '') {
      const sealed = box.seal(plain, aad);
      remember(aad, sealed, plain);
      return sealed;
    },
    open(sealed, aad = '') {
      const known = places.get(aad);
      if (known?.sealed === sealed) return known.plain;
      const plain = box.open(sealed, aad);
      remember(aad, sealed, plain);
      return plain;
    },
  };
}

/** Random bytes for many IVs are generated at once; each part of the pool is used a single time. */
const ivPool = Buffer.alloc(IV_BYTES * 256);
let ivOffset = ivPool.length;

function nextIv(): Buffer {
  if (ivOffset === ivPool.length) {
    randomFillSync(ivPool);
    ivOffset = 0;
  }
  const iv = ivPool.subarray(ivOffset, ivOffset + IV_BYTES);
  ivOffset += IV_BYTES;
  return iv;
}
