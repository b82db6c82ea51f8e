import { malformed, type T } from '../http/index.ts';

/** Longer names would not stand beside their buttons. */
const mostCharacters = 60;

/** What is wrong with a name for a passkey, in words. */
export function faultOfName(t: T, name: string): string | undefined {
  if (name === '') return t('passkeys.errors.nameEmpty');
  return malformed(name, mostCharacters) ? t('passkeys.errors.name', { most: mostCharacters }) : undefined;
}

/** A name to begin with, which fits. */
export const nameToBeginWith = (device: string) => device.slice(0, mostCharacters);
