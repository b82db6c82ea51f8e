import { type PasswordHasher, PasswordQueueFullError } from '../../server/password/index.ts';

/** A hasher whose hash is the password itself; it counts its calls and can refuse them. */
export function plainHasher() {
  const hasher: PasswordHasher & { hashed: number; verified: number; full: boolean } = {
    hashed: 0,
    verified: 0,
    full: false,
    async hash(given) {
      if (hasher.full) throw new PasswordQueueFullError('full');
      hasher.hashed += 1;
      return `plain:${given}`;
    },
    async verify(hash, given) {
      hasher.verified += 1;
      return hash === `plain:${given}`;
    },
  };
  return hasher;
}
