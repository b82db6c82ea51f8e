import { findDeletion, findWaitingReset } from '../account/index.ts';
import { isSmsOffered } from '../deps.ts';
import { listAuthenticators } from '../mfa/index.ts';
import { countPasskeys } from '../passkeys/index.ts';
import type { User } from '../users/index.ts';
import type { Context } from './context.ts';
import { counted, moment, numericDate } from './text.ts';

const factorNames = { none: 'none', sms: 'codes by SMS', totp: 'authenticator app' } as const;

/** A user's sign-in methods besides the password, and open steps, for `foyer user show`. */
export async function signInFacts(
  { database, config }: Context,
  user: User,
): Promise<{ facts: [string, string][]; json: Record<string, unknown> }> {
  const { db } = database;
  const [factors, passkeys, reset, deletion] = await Promise.all([
    listAuthenticators(database, user),
    countPasskeys(db, user.id),
    findWaitingReset(db, { userId: user.id }),
    findDeletion(db, user.id),
  ]);
  const { preference, totp, recoveryCodesLeft } = factors;
  const left = preference === 'none' ? '' : `, ${counted(recoveryCodesLeft, 'recovery code')} left`;
  const silent = preference === 'sms' && !isSmsOffered(config) ? ' (no text messages are sent here)' : '';
  const facts: [string, string][] = [
    ['Factor', `${factorNames[preference]}${silent}${left}`],
    ['Passkeys', String(passkeys)],
  ];
  if (reset) facts.push(['Reset', `the second step is taken away on ${moment(reset.dueAt)}`]);
  if (deletion) facts.push(['Leaves', `is deleted on ${moment(deletion.dueAt)}, unless they sign in`]);
  return {
    facts,
    json: {
      mfa: { preferred: preference, authenticator_app: totp, recovery_codes_left: recoveryCodesLeft },
      passkeys,
      ...(reset && { mfa_reset_due_at: numericDate(reset.dueAt) }),
      ...(deletion && { deletion_due_at: numericDate(deletion.dueAt) }),
    },
  };
}
