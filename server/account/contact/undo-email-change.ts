import type { Transaction } from 'kysely';
import { recordContactChange } from '../../billing/index.ts';
import { resolveLanguage } from '../../http/index.ts';
import { notifySecurityChange, type Origin } from '../../messages/index.ts';
import { hasTotp } from '../../mfa/index.ts';
import { forgetGuesses, type PasswordFault } from '../../password/index.ts';
import { sha256 } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import {
  AlreadyInUseError,
  type EmailChange,
  findEmailChange,
  findUser,
  hasPhoneChangedSince,
  removePhone,
  setMfaPreference,
  type User,
  undoEmailChange,
} from '../../users/index.ts';
import type { ContactDeps } from './contact-deps.ts';

export interface PendingUndo {
  change: EmailChange;
  /** The current data. */
  user: User;
}

/** The change that a link's token can undo: for 72 hours, once. */
export async function findPendingUndo(
  { database, now }: Pick<ContactDeps, 'database' | 'now'>,
  token: string,
): Promise<PendingUndo | undefined> {
  const [, id, secret] = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(token) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const change = await findEmailChange(database.db, { id, undoHash: sha256(secret) }, now());
  const user = change && (await findUser(database.db, change.userId));
  return change && user && { change, user };
}

type UndoEmailChangeResult =
  /** The updated user. */
  | { kind: 'undone'; user: User }
  | { kind: 'faults'; faults: PasswordFault[] }
  /** Unknown, expired, or already undone. */
  | { kind: 'not-found' };

/** Restores the earlier number and its factor in place of one that was added since. */
async function restorePhone(trx: Transaction<Schema>, { userId, changedAt }: EmailChange, nowMs: number) {
  if (!(await hasPhoneChangedSince(trx, userId, changedAt))) return;
  const user = await findUser(trx, userId);
  if (user?.mfaPreference === 'sms') {
    await setMfaPreference(trx, userId, { preference: (await hasTotp(trx, userId)) ? 'totp' : 'none', nowMs });
  }
  await removePhone(trx, userId, nowMs);
}

/**
 * Undoes a change of the address (`security.md`, rule 14): the owner of the old mailbox gets the account back, with a
 * new password, and without sessions, client apps' grants, second factors, passkeys and a number that were added since.
 * @throws {PasswordQueueFullError}
 */
export async function undoEmailChangeByToken(
  deps: ContactDeps,
  token: string,
  { password, from }: { password: string; from: Origin },
): Promise<UndoEmailChangeResult> {
  const { database, sessions, outbox, revertContactChange, log, now } = deps;
  const { passwords, policy } = deps.password;
  const found = await findPendingUndo(deps, token);
  if (!found) return { kind: 'not-found' };
  const { change, user } = found;
  const faults = await policy.faults(password, { ...user, email: change.oldEmail });
  if (faults.length > 0) return { kind: 'faults', faults };
  const passwordHash = await passwords.hash(password, { account: change.oldEmail, ip: from.ip });
  // Also before: if this process dies right after the commit, almost nothing remains to end.
  await sessions.endAll(user.id);
  try {
    const undone = await database.transaction(async (trx) => {
      if (!(await undoEmailChange(trx, change, { passwordHash, nowMs: now() }))) return false;
      const since = { userId: user.id, sinceMs: change.changedAt, nowMs: now() };
      for (const revert of revertContactChange) await revert(trx, since);
      await restorePhone(trx, change, now());
      await recordContactChange(trx, user.id, now());
      await notifySecurityChange(trx, deps, {
        user: { ...user, email: change.oldEmail },
        change: 'email-undone',
        from,
      });
      const lang = resolveLanguage(from.lang, user.locale ?? undefined);
      // The temporary holder of the account learns nothing about the new state.
      for (const to of new Set([change.newEmail, user.email])) {
        if (to === change.oldEmail) continue;
        const values = { givenName: '', atMs: now() };
        await outbox.add(trx, { channel: 'mail', to, template: 'email-undone', lang, values });
      }
      return true;
    });
    if (!undone) return { kind: 'not-found' };
  } catch (error) {
    if (error instanceof AlreadyInUseError) return { kind: 'not-found' };
    throw error;
  }
  outbox.wake();
  // A sign-in in progress sees the new epoch, or is in the list by now (sessions/).
  await sessions.endAll(user.id);
  const member = await findUser(database.db, user.id);
  // Deleted meanwhile.
  if (!member) return { kind: 'not-found' };
  await forgetGuesses(deps.password, member);
  log.info({ act: 'email-change-undone' }, 'email address change undone');
  return { kind: 'undone', user: member };
}
