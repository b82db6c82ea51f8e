import { createHmac, createSecretKey } from 'node:crypto';
import { deriveKey } from '../store/index.ts';

/**
 * A keyed hash before argon2id (NIST SP 800-63B-4, section 3.1.1.2): with the database alone, without SECRET_KEY, no password
 * can be guessed. The stored text names the key, so that a list of keys works as it does for sealed data.
 */
export interface Pepper {
  /** Of the key that new hashes are made with. */
  id: string;
  /** Undefined: the key is not in the list any more. */
  apply(id: string, password: string): string | undefined;
}

const shape = /^\$hmac-sha256\$k=([\w-]{8})(\$argon2id\$.+)$/;

/** @param secretKeys the newest first */
export function createPepper(secretKeys: readonly string[]): Pepper {
  const keys = secretKeys.map((secretKey) => ({
    id: deriveKey(secretKey, 'key id of passwords', 6).toString('base64url'),
    key: createSecretKey(deriveKey(secretKey, 'passwords', 32)),
  }));
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return {
    id: keys[0]?.id ?? '',
    apply(id, password) {
      const key = byId.get(id);
      // As text: argon2 takes no bytes of zero everywhere alike.
      return key && createHmac('sha256', key).update(password).digest('base64');
    },
  };
}

/** A hash as it is stored: the argon2id text, and the key's id before it. */
export const pepperedText = (id: string, argon2id: string): string => `$hmac-sha256$k=${id}${argon2id}`;

/** Undefined: it was made without a key. */
export function readPeppered(text: string): { id: string; argon2id: string } | undefined {
  // No library writes more; the expression need not look at it.
  if (text.length > 512) return undefined;
  const [, id, argon2id] = shape.exec(text) ?? [];
  return id !== undefined && argon2id !== undefined ? { id, argon2id } : undefined;
}
