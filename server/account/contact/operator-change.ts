import type { Transaction } from 'kysely';
import { recordContactChange } from '../../billing/index.ts';
import { resolveLanguage } from '../../http/index.ts';
import { byOperator, notifySecurityChange, type Outbox } from '../../messages/index.ts';
import { forgetRememberedDevices } from '../../mfa/index.ts';
import { type E164, type NormalisedEmail, randomToken, sha256 } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { changeEmail, removePhone, setPhone, setVerified, type User } from '../../users/index.ts';
import { undoMs, undoUrl } from './undo-link.ts';

/** Undefined: stays as it is. */
export interface OperatorContactChange {
  email?: NormalisedEmail | undefined;
  /** Whether the operator vouches for the address; a new one is not verified by default. */
  emailVerified?: boolean | undefined;
  /** null: none. */
  phone?: E164 | null | undefined;
  phoneVerified?: boolean | undefined;
}

interface Deps {
  outbox: Outbox;
  publicUrl: string;
  now: () => number;
}

/** The user has changed meanwhile, or the second factor needs the number: nothing may be changed. */
export class ContactChangeRefusedError extends Error {
  override name = 'ContactChangeRefused';
}

async function replaceEmail(
  trx: Transaction<Schema>,
  { outbox, publicUrl, now }: Deps,
  { user, email, verified }: { user: User; email: NormalisedEmail; verified: boolean },
): Promise<void> {
  const secret = randomToken();
  const undoUntil = now() + undoMs;
  const newEmail = { email, verified, undoHash: sha256(secret), undoUntil, nowMs: now() };
  const change = await changeEmail(trx, user, newEmail);
  if (change === undefined) throw new ContactChangeRefusedError('the member is disabled, or changed meanwhile');
  await recordContactChange(trx, user.id, now());
  await outbox.add(trx, {
    channel: 'mail',
    to: user.email,
    template: 'email-changed',
    lang: resolveLanguage('en', user.locale ?? undefined),
    values: {
      givenName: user.givenName,
      atMs: now(),
      newEmail: email,
      undoUrl: undoUrl(publicUrl, { change, secret }),
      undoUntilMs: undoUntil,
      ...byOperator,
    },
    expiresAtMs: undoUntil,
  });
  await notifySecurityChange(trx, { outbox, now }, { user: { ...user, email }, change: 'email', from: byOperator });
}

async function changePhone(
  trx: Transaction<Schema>,
  { outbox, now }: Deps,
  { user, phone, verified }: { user: User; phone: E164 | null; verified: boolean },
): Promise<void> {
  if (user.mfaPreference === 'sms' && (phone === null || !verified))
    throw new ContactChangeRefusedError('the number carries the second factor, so there must be a verified one');
  const changed =
    phone === null
      ? await removePhone(trx, user.id, now())
      : await setPhone(trx, user, { phone, verified, nowMs: now() });
  if (!changed) throw new ContactChangeRefusedError('the member is disabled, or changed meanwhile');
  if (user.mfaPreference !== 'none') await forgetRememberedDevices(trx, user.id);
  const change = phone === null ? 'phone-removed' : 'phone';
  await notifySecurityChange(trx, { outbox, now }, { user, change, from: byOperator });
}

/** Changes a flag alone. The settings send no mail about that either. */
async function changeFlag(
  trx: Transaction<Schema>,
  { outbox, now }: Deps,
  { user, flag, verified }: { user: User; flag: 'email' | 'phone'; verified: boolean },
): Promise<void> {
  if (flag === 'phone' && !verified && user.mfaPreference === 'sms')
    throw new ContactChangeRefusedError('the number carries the second factor, so it stays verified');
  await setVerified(trx, user.id, { flag, verified, nowMs: now() });
  const details = { change: `${flag}-${verified ? 'verified' : 'unverified'}` };
  await outbox.record(trx, { type: 'contact.changed', details, subject: user.id, atMs: now() });
}

/**
 * Changes address and number by an operator's command, in the caller's transaction. A replaced address gets the link to
 * undo it, and stays reserved, as after a change in the settings.
 * @returns the labels of the changes; empty: everything was so already
 * @throws {ContactChangeRefusedError}
 * @throws {AlreadyInUseError}
 */
export async function changeContactByOperator(
  trx: Transaction<Schema>,
  deps: Deps,
  { user, change }: { user: User; change: OperatorContactChange },
): Promise<string[]> {
  const { email = user.email, emailVerified, phone = user.phone, phoneVerified } = change;
  const changed: string[] = [];
  if (email !== user.email) {
    await replaceEmail(trx, deps, { user, email, verified: emailVerified ?? false });
    changed.push('email');
  } else if (emailVerified !== undefined && emailVerified !== user.emailVerified) {
    await changeFlag(trx, deps, { user, flag: 'email', verified: emailVerified });
    changed.push('email_verified');
  }
  const reachable = { ...user, email };
  if (phone !== user.phone) {
    await changePhone(trx, deps, { user: reachable, phone, verified: phoneVerified ?? false });
    changed.push('phone_number');
  } else if (phone !== null && phoneVerified !== undefined && phoneVerified !== user.phoneVerified) {
    await changeFlag(trx, deps, { user, flag: 'phone', verified: phoneVerified });
    changed.push('phone_number_verified');
  }
  return changed;
}
