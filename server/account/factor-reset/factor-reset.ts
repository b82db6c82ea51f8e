import type { Transaction } from 'kysely';
import { formatPlainDate } from '../../../views/format.ts';
import { resolveLanguage, translator } from '../../http/index.ts';
import { removeAllFactors } from '../../mfa/index.ts';
import { randomToken, sha256, type UserId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { findUser, type User } from '../../users/index.ts';
import type { DeletionDeps } from '../deletion/deletion-deps.ts';
import {
  cancelWaitingResets,
  type FactorReset,
  findWaitingReset,
  insertFactorReset,
  listPendingResets,
  markResetDone,
} from './factor-reset-store.ts';

/** The mail and the text message contain it. */
export const cancelPath = '/cancel-factor-reset';

/** The dependencies that the operator's command has too. */
type FactorResetDeps = Pick<DeletionDeps, 'database' | 'outbox' | 'publicUrl' | 'brandName' | 'now'>;

type RequestFactorResetResult =
  | { kind: 'asked'; reset: FactorReset }
  /** One is already pending: it keeps its time. */
  | { kind: 'waiting'; reset: FactorReset }
  /** The user has no second factor. */
  | { kind: 'no-change' }
  | { kind: 'not-found' };

const languageOfUser = ({ locale }: User) => resolveLanguage(undefined, locale ?? undefined);

/**
 * A user who has lost the second factor has asked an operator to remove it. It waits, so that the user can cancel it if
 * someone else asked: with the link in the mail and in the text message, and in the settings, which the notification
 * names.
 * @param waitMs time until it happens
 * @param bySms whether text messages can be sent
 */
export async function requestFactorReset(
  deps: FactorResetDeps,
  userId: UserId,
  { waitMs, bySms }: { waitMs: number; bySms: boolean },
): Promise<RequestFactorResetResult> {
  const { database, outbox, publicUrl, brandName, now } = deps;
  const requested = await database.transaction(async (trx): Promise<RequestFactorResetResult> => {
    const user = await findUser(trx, userId);
    if (!user) return { kind: 'not-found' };
    if (user.mfaPreference === 'none') return { kind: 'no-change' };
    const known = await findWaitingReset(trx, { userId });
    if (known) return { kind: 'waiting', reset: known };
    const secret = randomToken();
    const [atMs, dueAtMs] = [now(), now() + waitMs];
    const reset = await insertFactorReset(trx, { userId, tokenHash: sha256(secret), dueAt: dueAtMs }, atMs);
    const lang = languageOfUser(user);
    const cancelUrl = `${publicUrl}${cancelPath}?${new URLSearchParams({ token: `${reset.id}.${secret}` })}`;
    const about = { givenName: user.givenName, atMs, dueAtMs, cancelUrl };
    await outbox.add(trx, { channel: 'mail', to: user.email, template: 'factor-reset-asked', lang, values: about });
    const t = translator(lang);
    const date = formatPlainDate(lang, dueAtMs, 'moment');
    if (bySms && user.phone !== null && user.phoneVerified) {
      const text = t('leaving.reset.sms', { brand: brandName, date, url: cancelUrl });
      await outbox.add(trx, { channel: 'sms', to: user.phone, text, expiresAtMs: dueAtMs });
    }
    // The database stores notifications unsealed: this one links to the settings, and contains no token.
    await outbox.add(trx, {
      channel: 'notification',
      userId,
      title: t('leaving.reset.title'),
      description: t('leaving.reset.notification', { date }),
      category: 'account',
      security: true,
    });
    return { kind: 'asked', reset };
  });
  if (requested.kind === 'asked') outbox.wake();
  return requested;
}

/** The reset that a link's token can cancel, while it is pending. */
export async function findCancellable({ database }: Pick<FactorResetDeps, 'database'>, token: string) {
  const [, id, secret] = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(token) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  return findWaitingReset(database.db, { id, tokenHash: sha256(secret) });
}

/** The user or the operator cancels it. Notifies by mail. @returns false if nothing was pending any more */
export async function cancelFactorReset(
  { database, outbox, now }: Pick<FactorResetDeps, 'database' | 'outbox' | 'now'>,
  userId: UserId,
): Promise<boolean> {
  const cancelled = await database.transaction(async (trx) => {
    if (!(await cancelWaitingResets(trx, { userId, nowMs: now() }))) return false;
    const user = await findUser(trx, userId);
    if (user) {
      const values = { givenName: user.givenName, atMs: now() };
      const mail = { channel: 'mail', to: user.email, lang: languageOfUser(user) } as const;
      await outbox.add(trx, { ...mail, template: 'factor-reset-cancelled', values });
    }
    return true;
  });
  if (cancelled) outbox.wake();
  return cancelled;
}

/** An undo of an address change also cancels requests since the change (`security.md`, rule 14). */
export async function cancelResetsRequestedSince(
  trx: Transaction<Schema>,
  since: { userId: UserId; sinceMs: number; nowMs: number },
): Promise<void> {
  await cancelWaitingResets(trx, since);
}

/** Removes the second factor unless it was cancelled. Ends all sessions of the user, and notifies by mail. */
async function carryOut(deps: DeletionDeps, { id, userId }: FactorReset): Promise<boolean> {
  const { database, outbox, sessions, now } = deps;
  const done = await database.transaction(async (trx) => {
    // One statement decides between this and a parallel cancellation.
    if (!(await markResetDone(trx, id, now()))) return false;
    const user = await findUser(trx, userId);
    if (!user || user.mfaPreference === 'none') return false;
    await removeAllFactors(trx, userId, now());
    const values = { givenName: user.givenName, atMs: now() };
    const mail = { channel: 'mail', to: user.email, lang: languageOfUser(user) } as const;
    await outbox.add(trx, { ...mail, template: 'factor-reset-done', values });
    return true;
  });
  if (!done) return false;
  outbox.wake();
  await sessions.endAll(userId);
  return true;
}

const batch = 100;

/** Carries out all that are due. @returns the number of removed second factors */
export async function applyDueResets(deps: DeletionDeps): Promise<number> {
  const { database, log, now } = deps;
  let done = 0;
  for (const reset of await listPendingResets(database.db, { dueBy: now(), max: batch })) {
    try {
      if (!(await carryOut(deps, reset))) continue;
      done += 1;
      log.info({ act: 'factor-reset-done', member: reset.userId }, 'second factor removed by an operator');
    } catch (error) {
      log.error({ err: error, member: reset.userId }, 'could not remove a second factor');
    }
  }
  return done;
}
