import type { Transaction } from 'kysely';
import { isProviderConfigured, listIdentities } from '../../federation/index.ts';
import { HttpError } from '../../http/index.ts';
import { notifySecurityChange } from '../../messages/index.ts';
import { listPasskeys } from '../../passkeys/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { Db, Schema } from '../../store/index.ts';
import { lockUser, type User } from '../../users/index.ts';
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

interface Removal {
  method: SignInMethodRef;
  /** For the mail: what was removed, and its name. */
  change: 'passkey-removed' | 'provider-removed';
  detail: string;
  /** @returns false if it was removed before */
  remove(trx: Transaction<Schema>, userId: UserId): Promise<boolean>;
}

/** Removes a sign-in method, unless it is the last one. */
export async function removeSignInMethod(
  r: UserRequest,
  deps: AccountDeps,
  { method, change, detail, remove }: Removal,
): Promise<'last' | 'not-found' | 'removed'> {
  const outcome = await deps.database.transaction(async (trx) => {
    // Under the lock, so that two parallel removals leave one sign-in method.
    const user = await lockUser(trx, r.user);
    if (!user) throw new HttpError('unauthorized', { detail: 'user or password has changed' });
    if (isLastSignInMethod(await listSignInMethods(deps, trx, user), method)) return 'last';
    // Two clicks are one change, and one mail.
    if (!(await remove(trx, user.id))) return 'not-found';
    await notifySecurityChange(trx, deps, { user, change, from: r.origin, detail });
    return 'removed';
  });
  deps.outbox.wake();
  return outcome;
}
