import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { RecentFactorsPage } from '../../views/password/recent-factors-page.tsx';
import { continuationFrom } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { listPasskeys, removePasskeysAddedSince } from '../passkeys/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import { findUser } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';
import { withParams } from './password-texts.ts';

export const recentFactorsPath = '/reset-password/ways-in';
/** A thief with the old password most often used the account recently. */
const latelyMs = 30 * 24 * 60 * 60_000;

/** Passkeys, and links with providers. */
async function listFactorsAddedSince({ database, lateLinks }: PasswordDeps, userId: UserId, sinceMs: number) {
  const [passkeys, links] = await Promise.all([listPasskeys(database.db, userId), lateLinks.list(userId, sinceMs)]);
  return { passkeys: passkeys.filter(({ createdAt }) => createdAt >= sinceMs), links };
}

const signInAddress = ({ publicUrl }: PasswordDeps, req: Request) =>
  withParams('/', continuationFrom(req, publicUrl), { notice: 'password-reset' });

/** The page after a reset: the sign-in, or first the sign-in methods that were added recently, if there are any. */
export async function afterResetUrl(deps: PasswordDeps, req: Request, res: Response, userId: UserId): Promise<string> {
  return (await recentFactorsUrl(deps, req, res, userId)) ?? signInAddress(deps, req);
}

/** The page where the browser that has just reset the password can remove them; undefined if there are none. */
export async function recentFactorsUrl(
  deps: PasswordDeps,
  req: Request,
  res: Response,
  userId: UserId,
): Promise<string | undefined> {
  const sinceMs = deps.now() - latelyMs;
  const { passkeys, links } = await listFactorsAddedSince(deps, userId, sinceMs);
  if (passkeys.length + links.length === 0) return undefined;
  await deps.afterReset.begin(res, { userId, sinceMs });
  return withParams(recentFactorsPath, continuationFrom(req, deps.publicUrl));
}

/** GET: a new password does not remove other sign-in methods, and a stranger may have added one. */
export function showRecentFactors(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const just = await deps.afterReset.find(req);
    const found = just && (await listFactorsAddedSince(deps, just.userId, just.sinceMs));
    const signInHref = signInAddress(deps, req);
    if (!found || found.passkeys.length + found.links.length === 0) return res.redirect(303, signInHref);
    const action = withParams(recentFactorsPath, continuationFrom(req, deps.publicUrl));
    const onlyPasskeys = found.links.length === 0;
    deps.pages.send(req, res, 200, (ctx) => createElement(RecentFactorsPage, { ctx, action, signInHref, ...found }), {
      title: (ctx) => ctx.t(onlyPasskeys ? 'passkeys.afterReset.title' : 'federation.linked.afterReset.title'),
    });
  };
}

/** POST: removes them, and ends sessions that were started with them meanwhile. */
export function removeRecentFactors(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const { database, sessions, outbox, lateLinks, log, now } = deps;
    const just = await deps.afterReset.take(req, res);
    const user = just && (await findUser(database.db, just.userId));
    if (just && user) {
      const { passkeys, links } = await listFactorsAddedSince(deps, user.id, just.sinceMs);
      const named = (ways: readonly { name: string }[]) => ways.map(({ name }) => name).join(', ');
      const removed = await database.transaction(async (trx) => {
        const keysGone = await removePasskeysAddedSince(trx, user.id, just.sinceMs);
        if (keysGone > 0)
          await notifySecurityChange(trx, deps, {
            user,
            change: 'passkey-removed',
            from: getRequestOrigin(req),
            detail: named(passkeys),
          });
        const linksGone = await lateLinks.remove(trx, user.id, just.sinceMs, now());
        if (linksGone > 0)
          await notifySecurityChange(trx, deps, {
            user,
            change: 'provider-removed',
            from: getRequestOrigin(req),
            detail: named(links),
          });
        return { passkeys: keysGone, links: linksGone };
      });
      outbox.wake();
      if (removed.passkeys + removed.links > 0) await sessions.endAll(user.id);
      log.info({ act: 'reset-ways-in', ...removed }, 'sign-in methods removed after a reset');
    }
    res.redirect(303, signInAddress(deps, req));
  };
}
