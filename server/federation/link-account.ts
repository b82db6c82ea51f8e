import type { NextPage, RequestContext } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { lockUser, type User } from '../users/index.ts';
import type { VerifiedResponse } from './attempt-state.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError } from './identity.ts';
import { findIdentity, insertIdentity, isSameIdentity, recordIdentityUse } from './identity-store.ts';
import { toAccountLabel } from './linked-identities.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';
import { linkedAccountsAfterLink } from './sign-in-notices.ts';

type LinkResult = 'linked' | 'known' | 'linked-elsewhere' | 'not-found';

interface RequestedLink extends Pick<VerifiedResponse, 'provider' | 'identity'> {
  /** The user of the session that started the link. */
  user: User;
}

async function tryLink(
  r: RequestContext,
  deps: FederationDeps,
  { user, provider, identity }: RequestedLink,
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
    const detail = toAccountLabel(provider.name, identity.email);
    await notifySecurityChange(trx, deps, { user: current, change: 'provider-linked', from: r.origin, detail });
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
 * Completes a link that was started in the settings by a user who was recently authenticated (`security.md`, rule 15).
 * @returns the next page
 * @throws {FederationError} foreign, linked-elsewhere
 */
export async function linkAccount(r: RequestContext, deps: FederationDeps, link: RequestedLink): Promise<NextPage> {
  const created = await linkWithRetry(r, deps, link);
  if (created === 'not-found') throw new FederationError('foreign', 'user has changed');
  if (created === 'linked-elsewhere') throw new FederationError(created, 'identity linked to another user');
  deps.outbox.wake();
  r.log.info({ act: 'federation-link', provider: link.provider.id, outcome: created }, 'account linked');
  return linkedAccountsAfterLink();
}
