import type { Request, Response } from 'express';
import { notifySecurityChange } from '../messages/index.ts';
import { getCurrentSession, getRequestOrigin } from '../sessions/index.ts';
import { lockUser, type User } from '../users/index.ts';
import type { FederationAttempt } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import type { VerifiedResponse } from './handle-identity.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import { findIdentity, insertIdentity, isSameIdentity, recordIdentityUse } from './identity-store.ts';
import { toAccountLabel } from './linked-identities.ts';
import type { Provider } from './providers.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';

type LinkResult = 'linked' | 'known' | 'linked-elsewhere' | 'not-found';

async function tryLink(
  deps: FederationDeps,
  req: Request,
  { user, provider, identity }: { user: User; provider: Provider; identity: UpstreamIdentity },
): Promise<LinkResult> {
  const { database, providers, now } = deps;
  return database.transaction(async (trx): Promise<LinkResult> => {
    // The password was changed or the user disabled meanwhile: the one who started it is no longer authenticated.
    const current = await lockUser(trx, user);
    if (!current) return 'not-found';
    const nowMs = now();
    if (!(await insertIdentity(trx, { userId: user.id, identity, nowMs, used: false }))) {
      const known = await findIdentity(trx, identity);
      if (known?.userId !== user.id) return 'linked-elsewhere';
      await recordIdentityUse(trx, { id: known.id, identity, nowMs });
      return 'known';
    }
    await updateRequiredSecondFactor(trx, providers, { userId: user.id, nowMs });
    const account = toAccountLabel(provider.name, identity.email);
    await notifySecurityChange(trx, deps, {
      user: current,
      change: 'provider-linked',
      from: getRequestOrigin(req),
      detail: account,
    });
    return 'linked';
  });
}

/** The later of two parallel calls finds the link of the first. */
async function linkWithRetry(...args: Parameters<typeof tryLink>): Promise<LinkResult> {
  try {
    return await tryLink(...args);
  } catch (error) {
    if (!isSameIdentity(error)) throw error;
    return tryLink(...args);
  }
}

/**
 * Completes a link that was started in the settings: in the same session of the same user, who was recently
 * authenticated at the start (`security.md`, rule 15).
 * @throws {FederationError} foreign, linked-elsewhere
 */
export async function linkAccount(
  deps: FederationDeps,
  req: Request,
  res: Response,
  { provider, identity, intent }: VerifiedResponse & { intent: FederationAttempt['intent'] & { kind: 'link' } },
): Promise<void> {
  const member = await deps.sessions.getCurrentUser(req);
  const same = member?.user.id === intent.userId && getCurrentSession(req)?.idHash === intent.sessionIdHash;
  if (!member || !same) throw new FederationError('foreign', 'session of the attempt has ended');
  const created = await linkWithRetry(deps, req, { user: member.user, provider, identity });
  if (created === 'not-found') throw new FederationError('foreign', 'user has changed');
  if (created === 'linked-elsewhere') throw new FederationError(created, 'identity linked to another user');
  deps.outbox.wake();
  deps.log.info({ act: 'federation-link', provider: provider.id, outcome: created }, 'account linked');
  res.redirect(303, `/settings/providers?${new URLSearchParams({ notice: 'linked' })}`);
}
