import type { Request } from 'express';
import { readFormField } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { forgetRememberedDevices, listRememberedDevices } from '../mfa/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import type { AccountDeps } from './deps.ts';
import type { SignedInUser } from './require-recent-auth.ts';

/** The checkbox of `EndOthers` in a submitted form. */
export const endOthersField = 'endOthers';
export const endOthersTicked = (req: Request): boolean => readFormField(req, endOthersField) === '1';

/** Ends every other session, and forgets every other remembered device: a thief's browser may be one of them. */
export async function endOthers(deps: AccountDeps, req: Request, { user, session }: SignedInUser): Promise<void> {
  const { database, mfa, outbox, sessions, now } = deps;
  const [devices, thisOne] = await Promise.all([
    listRememberedDevices(database.db, user, now()),
    mfa.remembered.findRememberedDevice(req, user),
  ]);
  let ended = await sessions.endOtherSessions(user.id, session.idHash);
  for (const { id } of devices) {
    if (id !== thisOne?.id) ended += await forgetRememberedDevices(database.db, user.id, id);
  }
  if (ended === 0) return;
  await database.transaction((trx) =>
    notifySecurityChange(trx, deps, { user, change: 'sessions-ended', from: getRequestOrigin(req) }),
  );
  outbox.wake();
}

/** The same after a change of credentials (OWASP ASVS 5.0, 7.4.3), if the checkbox in its form is ticked. */
export async function endOthersIfTicked(deps: AccountDeps, req: Request, member: SignedInUser): Promise<void> {
  if (endOthersTicked(req)) await endOthers(deps, req, member);
}
