import { isProviderConfigured, listIdentities } from '../../federation/index.ts';
import { listPasskeys } from '../../passkeys/index.ts';
import type { Db } from '../../store/index.ts';
import type { User } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';

/** One of a user's sign-in methods. */
export interface SignInMethodRef {
  kind: 'password' | 'passkey' | 'link';
  /** Id of the passkey or the link. */
  id?: string;
}

/** Tests whether it is the last usable method. An unusable one can always be removed. Pure. */
export function isLastSignInMethod(ways: readonly SignInMethodRef[], { kind, id }: SignInMethodRef): boolean {
  const others = ways.filter((way) => way.kind !== kind || way.id !== id);
  return others.length === 0 && ways.length > 0;
}

/**
 * The usable sign-in methods: a passkey only if it is supported, a link only while its provider is configured. A code
 * by mail does not count: it sets a new password, and needs a mailbox that may be the provider's own.
 */
export async function listSignInMethods(
  { passkeys, federation }: Pick<AccountDeps, 'passkeys' | 'federation'>,
  db: Db,
  user: Pick<User, 'id' | 'passwordHash'>,
): Promise<SignInMethodRef[]> {
  const [keys, links] = [passkeys ? await listPasskeys(db, user.id) : [], await listIdentities(db, user.id)];
  return [
    ...(user.passwordHash === null ? [] : [{ kind: 'password' as const }]),
    ...keys.map(({ id }) => ({ kind: 'passkey' as const, id })),
    ...links
      .filter((link) => isProviderConfigured(federation.providers, link))
      .map(({ id }) => ({ kind: 'link' as const, id })),
  ];
}
