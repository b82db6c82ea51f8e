import { createHmac, createSecretKey } from 'node:crypto';
import { deriveKey } from '../store/index.ts';

/**
 * A keyed hash before argon2id (NIST SP 800-63B-4, section 3.1.1.2): with the database alone, without SECRET_KEY, no
 * password can be guessed. The stored text names the key, so that a list of keys works as it does for sealed data.
 */
export interface Pepper {
  /** Id of the key for new hashes. */
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
      // As text: not every implementation of argon2 accepts zero bytes.
      return key && createHmac('sha256', key).update(password).digest('base64');
    },
  };
}

/** The stored form of a hash: the argon2id text after the key's id. */
export const pepperedText = (id: string, argon2id: string): string => `$hmac-sha256$k=${id}${argon2id}`;

/** Undefined: it was made without a key. */
export function readPeppered(text: string): { id: string; argon2id: string } | undefined {
  // No library creates longer texts; this bounds the work of the expression.
  if (text.length > 512) return undefined;
  const [, id, argon2id] = shape.exec(text) ?? [];
  return id !== undefined && argon2id !== undefined ? { id, argon2id } : undefined;
}
