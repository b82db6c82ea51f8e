import { createHmac, createSecretKey } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { deriveKey } from '../store/index.ts';
import { readHash, type StoredHash, toDecoyHash } from './stored-hash.ts';

/** The cost of one hash: KiB, passes, lanes (RFC 9106, section 3.1). */
export interface HashCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

export const toHashProfile = ({ memoryCost, timeCost, parallelism }: HashCost) =>
  `argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$32`;

/**
 * A keyed hash before argon2id (NIST SP 800-63B-4, section 3.1.1.2): with the database alone, without SECRET_KEY, no
 * password can be guessed. The stored text names the key, so that a list of keys works as it does for sealed data.
 */
interface Pepper {
  /** Id of the key for new hashes. */
  id: string;
  /** Undefined: the key is not in the list any more. */
  apply(id: string, password: string): string | undefined;
}

const pepperedShape = /^\$hmac-sha256\$k=([\w-]{8})(\$argon2id\$.+)$/;

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
function readPeppered(text: string): { id: string; argon2id: string } | undefined {
  // No library creates longer texts; this bounds the work of the expression.
  if (text.length > 512) return undefined;
  const [, id, argon2id] = pepperedShape.exec(text) ?? [];
  return id !== undefined && argon2id !== undefined ? { id, argon2id } : undefined;
}

/**
 * A weak imported hash that was wrapped in argon2id at the import, without its password: the stored text has the weak
 * hash's parameters and salt, and argon2id of its whole text. An attack costs the work of both.
 */
const wrappedShape = /^\$wrapped\$([\w-]+)(\$.+)$/;
const profileStart = 'wrapped$';

/** The text without its result, which argon2id hides. */
const toShell = (text: string): string =>
  text.startsWith('$2')
    ? text.slice(0, 29) + '.'.repeat(31)
    : text.slice(0, text.lastIndexOf('$') + 1) + 'A'.repeat(text.length - text.lastIndexOf('$') - 1);

export const wrappedProfile = (profile: string): string => profileStart + profile;

export const isWrapped = (profile: string): boolean => profile.startsWith(profileStart);

/** @param outer argon2id of the weak hash's whole text */
const wrappedText = (weak: string, outer: string): string =>
  `$wrapped$${Buffer.from(toShell(weak)).toString('base64url')}${outer}`;

interface WrappedHash {
  weak: StoredHash;
  /** Like any hash of Foyer's own; its input is the text from `weak.rerender`. */
  outer: string;
}

/** Undefined: it is not wrapped. */
function readWrapped(text: string): WrappedHash | undefined {
  // No library creates longer texts; this bounds the work of the expression.
  const [, shell, outer] = text.length > 1_024 ? [] : (wrappedShape.exec(text) ?? []);
  if (shell === undefined || outer === undefined) return undefined;
  const weak = readHash(Buffer.from(shell, 'base64url').toString());
  return typeof weak === 'string' ? undefined : { weak, outer };
}

/** A decoy of a profile, wrapped or not; for a wrapped one without the argon2id, which is done for every user. */
export const decoyOfProfile = (profile: string): StoredHash | undefined =>
  toDecoyHash(isWrapped(profile) ? profile.slice(profileStart.length) : profile);

/** Undefined: no password can match it. */
export const readKnownHash = (text: string) => {
  const read = readHash(text);
  return typeof read === 'string' ? undefined : read;
};

/** How a stored text is checked, and the work of that besides Foyer's own. */
interface Readable {
  verify(password: string): Promise<boolean>;
  /** It costs as much as one of Foyer's own. */
  isOwn: boolean;
  /** The imported hash. */
  foreign: StoredHash | undefined;
}

/** Creates and reads stored hashes, with the key before argon2id if there is one. */
export function createKeyedHashes(cost: HashCost, secretKeys: readonly string[]) {
  const pepper = secretKeys.length > 0 ? createPepper(secretKeys) : undefined;
  const profile = toHashProfile(cost);
  async function make(password: string): Promise<string> {
    if (!pepper) return hash(password, cost);
    return pepperedText(pepper.id, await hash(pepper.apply(pepper.id, password) ?? '', cost));
  }

  function readOwn(text: string): StoredHash | undefined {
    const peppered = readPeppered(text);
    if (!peppered) return readKnownHash(text);
    const inner = readKnownHash(peppered.argon2id);
    if (!inner) return undefined;
    return {
      ...inner,
      async verify(password) {
        const keyed = pepper?.apply(peppered.id, password);
        // Made with a removed key: the same work, and no password matches.
        return (await inner.verify(keyed ?? password)) && keyed !== undefined;
      },
    };
  }

  return {
    profile,
    make,
    /** Undefined: no password can match it. */
    read(text: string): Readable | undefined {
      const wrapped = readWrapped(text);
      const stored = readOwn(wrapped?.outer ?? text);
      if (!stored) return undefined;
      const isOwn = stored.profile === profile;
      if (!wrapped) return { verify: stored.verify, isOwn, foreign: isOwn ? undefined : stored };
      const { weak } = wrapped;
      return { verify: async (password) => stored.verify(await weak.rerender(password)), isOwn, foreign: weak };
    },
    async wrap(weak: { text: string; profile: string }) {
      return { text: wrappedText(weak.text, await make(weak.text)), profile: wrappedProfile(weak.profile) };
    },
    isOutdated(text: string): boolean {
      const peppered = readPeppered(text);
      if ((peppered?.id ?? '') !== (pepper?.id ?? '')) return true;
      return readKnownHash(peppered?.argon2id ?? text)?.profile !== profile;
    },
  };
}
