import type { RequestContext } from '../../http/index.ts';
import { notifySecurityChange } from '../../messages/index.ts';
import { forgetRememberedDevices, listRememberedDevices } from '../../mfa/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { User } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';

/** The checkbox of `EndOthers` in a submitted form. */
export const endOthersField = 'endOthers';
export const endOthersTicked = (r: RequestContext): boolean => r.field(endOthersField) === '1';

/**
 * Ends every other session, and forgets every other remembered device: a thief's browser may be one of them.
 * @param user with the data after a change
 */
export async function endOthers(r: UserRequest, deps: AccountDeps, user: User = r.user): Promise<void> {
  const { database, mfa, outbox, sessions, now } = deps;
  const [devices, thisOne] = await Promise.all([
    listRememberedDevices(database.db, user, now()),
    mfa.remembered.findRememberedDevice(r.req, user),
  ]);
  let ended = await sessions.endOtherSessions(user.id, r.session.idHash);
  for (const { id } of devices) {
    if (id !== thisOne?.id) ended += await forgetRememberedDevices(database.db, user.id, id);
  }
  if (ended === 0) return;
  await database.transaction((trx) =>
    notifySecurityChange(trx, deps, { user, change: 'sessions-ended', from: r.origin }),
  );
  outbox.wake();
}

/** The same after a change of credentials (OWASP ASVS 5.0, 7.4.3), if the checkbox in its form is ticked. */
export async function endOthersIfTicked(r: UserRequest, deps: AccountDeps, user?: User): Promise<void> {
  if (endOthersTicked(r)) await endOthers(r, deps, user);
}
