import { readHash, type StoredHash, toDecoyHash } from './stored-hash.ts';

/**
 * A weak hash from elsewhere that argon2id was put around at once, without its password: what is stored is the weak hash's
 * parameters and salt, and argon2id of its whole text. It costs both to guess at.
 */
const shape = /^\$wrapped\$([\w-]+)(\$.+)$/;
const profileStart = 'wrapped$';

/** The text without its result, which is what argon2id hides. */
const toShell = (text: string): string =>
  text.startsWith('$2')
    ? text.slice(0, 29) + '.'.repeat(31)
    : text.slice(0, text.lastIndexOf('$') + 1) + 'A'.repeat(text.length - text.lastIndexOf('$') - 1);

export const wrappedProfile = (profile: string): string => profileStart + profile;

export const isWrapped = (profile: string): boolean => profile.startsWith(profileStart);

/** @param outer argon2id of the weak hash's whole text */
export const wrappedText = (weak: string, outer: string): string =>
  `$wrapped$${Buffer.from(toShell(weak)).toString('base64url')}${outer}`;

export interface WrappedHash {
  weak: StoredHash;
  /** As any hash of Foyer's own; what it hashed is the text that `weak.again` answers. */
  outer: string;
}

/** Undefined: nothing was put around it. */
export function readWrapped(text: string): WrappedHash | undefined {
  // No library writes more; the expression need not look at it.
  const [, shell, outer] = text.length > 1_024 ? [] : (shape.exec(text) ?? []);
  if (shell === undefined || outer === undefined) return undefined;
  const weak = readHash(Buffer.from(shell, 'base64url').toString());
  return typeof weak === 'string' ? undefined : { weak, outer };
}

/** A hash of a profile that is nobody's, wrapped or not; of a wrapped one without the argon2id, which is done for everybody. */
export const decoyOfProfile = (profile: string): StoredHash | undefined =>
  toDecoyHash(isWrapped(profile) ? profile.slice(profileStart.length) : profile);
