import { RecentFactorsPage } from '../../views/password/recent-factors-page.tsx';
import { AddressWithNotice, type NextPage, type RequestContext } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { listPasskeys, removePasskeysAddedSince } from '../passkeys/index.ts';
import type { UserId } from '../shared/index.ts';
import { findUser } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';
import { withParams } from './password-texts.ts';
import type { RecentReset } from './recent-resets.ts';

export const recentFactorsPath = '/reset-password/ways-in';
/** A thief with the old password most often used the account recently. */
const latelyMs = 30 * 24 * 60 * 60_000;

/** Passkeys, and links with providers. */
async function listFactorsAddedSince({ database, lateLinks }: PasswordDeps, { userId, sinceMs }: RecentReset) {
  const [passkeys, links] = await Promise.all([listPasskeys(database.db, userId), lateLinks.list(userId, sinceMs)]);
  return { passkeys: passkeys.filter(({ createdAt }) => createdAt >= sinceMs), links };
}

export const passwordResetNotice = 'password:reset';

const signInAfter = ({ continuation }: RequestContext) =>
  new AddressWithNotice(withParams('/', continuation), passwordResetNotice);

/** The page after a reset: the sign-in, or first the sign-in methods that were added recently, if there are any. */
export async function afterResetUrl(r: RequestContext, deps: PasswordDeps, userId: UserId): Promise<NextPage> {
  return (await recentFactorsUrl(r, deps, userId)) ?? signInAfter(r);
}

/**
 * The page where the browser that has just reset the password can remove recently added passkeys and links; undefined:
 * there are none.
 */
export async function recentFactorsUrl(
  r: RequestContext,
  deps: PasswordDeps,
  userId: UserId,
): Promise<string | undefined> {
  const reset = { userId, sinceMs: deps.now() - latelyMs };
  const { passkeys, links } = await listFactorsAddedSince(deps, reset);
  if (passkeys.length + links.length === 0) return undefined;
  await deps.afterReset.begin(r.res, reset);
  return withParams(recentFactorsPath, r.continuation);
}

/** GET: a new password does not remove other sign-in methods, and a stranger may have added one. */
export async function showRecentFactors(r: RequestContext, deps: PasswordDeps) {
  const reset = await deps.afterReset.find(r.req);
  const found = reset && (await listFactorsAddedSince(deps, reset));
  const signIn = signInAfter(r);
  if (!found || found.passkeys.length + found.links.length === 0) return r.redirect(signIn);
  // For the link of the page, which leaves the methods as they are.
  r.announce(signIn.notice);
  const action = withParams(recentFactorsPath, r.continuation);
  const onlyPasskeys = found.links.length === 0;
  r.render(
    RecentFactorsPage,
    { action, signInHref: signIn.address, ...found },
    { title: onlyPasskeys ? 'passkeys.afterReset.title' : 'federation.linked.afterReset.title' },
  );
}

/** POST: removes them, and ends sessions that were started with them meanwhile. */
export async function removeRecentFactors(r: RequestContext, deps: PasswordDeps) {
  const { database, sessions, outbox, lateLinks, now } = deps;
  const reset = await deps.afterReset.take(r.req, r.res);
  const user = reset && (await findUser(database.db, reset.userId));
  if (reset && user) {
    const { userId, sinceMs } = reset;
    const { passkeys, links } = await listFactorsAddedSince(deps, reset);
    const listNames = (factors: readonly { name: string }[]) => factors.map(({ name }) => name).join(', ');
    const removed = await database.transaction(async (trx) => {
      const about = { user, from: r.origin };
      const passkeyCount = await removePasskeysAddedSince(trx, { userId, sinceMs });
      if (passkeyCount > 0)
        await notifySecurityChange(trx, deps, { ...about, change: 'passkey-removed', detail: listNames(passkeys) });
      const linkCount = await lateLinks.remove(trx, { userId, sinceMs, nowMs: now() });
      if (linkCount > 0)
        await notifySecurityChange(trx, deps, { ...about, change: 'provider-removed', detail: listNames(links) });
      return { passkeys: passkeyCount, links: linkCount };
    });
    outbox.wake();
    if (removed.passkeys + removed.links > 0) await sessions.endAll(userId);
    r.log.info({ act: 'reset-ways-in', ...removed }, 'sign-in methods removed after a reset');
  }
  r.redirect(signInAfter(r));
}
