import { isMalformed, type T } from '../../http/index.ts';

/** Longer names would not fit beside their buttons. */
const maxCharacters = 60;

/** The fault of a name for a passkey, in words. */
export function findNameFault(t: T, name: string): string | undefined {
  if (name === '') return t('passkeys.errors.nameEmpty');
  return isMalformed(name, maxCharacters) ? t('passkeys.errors.name', { most: maxCharacters }) : undefined;
}

/** A default name that fits. */
export const initialPasskeyName = (device: string) => device.slice(0, maxCharacters);
