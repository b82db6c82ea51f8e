import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { ResetPasskeysPage } from '../../views/password/reset-passkeys-page.tsx';
import { findUser } from '../account/index.ts';
import { errandOf } from '../http/index.ts';
import { listPasskeys, removePasskeysAddedSince } from '../passkeys/index.ts';
import { originOf, tellOfChange } from '../session/index.ts';
import type { PasswordDeps } from './deps.ts';
import { addressWith } from './page-support.ts';

const path = '/reset-password/passkeys';
/** Whoever was in the account with the old password was there lately, most often. */
const latelyMs = 30 * 24 * 60 * 60_000;

const passkeysSince = async ({ database }: PasswordDeps, userId: string, sinceMs: number) =>
  (await listPasskeys(database.db, userId)).filter(({ createdAt }) => createdAt >= sinceMs);

const signInAddress = ({ publicUrl }: PasswordDeps, req: Request) =>
  addressWith('/', errandOf(req, publicUrl), { notice: 'password-reset' });

/** Where a reset leads: to the sign-in, by way of the passkeys that were added lately, if there are any. */
export async function wayAfterReset(deps: PasswordDeps, req: Request, res: Response, userId: string): Promise<string> {
  return (await wayToLatePasskeys(deps, req, res, userId)) ?? signInAddress(deps, req);
}

/** Where whoever has just set the password anew in this browser may remove them; undefined where there are none. */
export async function wayToLatePasskeys(
  deps: PasswordDeps,
  req: Request,
  res: Response,
  userId: string,
): Promise<string | undefined> {
  const sinceMs = deps.now() - latelyMs;
  if ((await passkeysSince(deps, userId, sinceMs)).length === 0) return undefined;
  await deps.afterReset.begin(res, { userId, sinceMs });
  return addressWith(path, errandOf(req, deps.publicUrl));
}

/** GET /reset-password/passkeys: a new password leaves passkeys as they are, and a stranger may have added one. */
export function showResetPasskeys(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const just = await deps.afterReset.find(req);
    const passkeys = just && (await passkeysSince(deps, just.userId, just.sinceMs));
    const signInHref = signInAddress(deps, req);
    if (!passkeys || passkeys.length === 0) return res.redirect(303, signInHref);
    const action = addressWith(path, errandOf(req, deps.publicUrl));
    deps.pages.send(req, res, 200, (ctx) => createElement(ResetPasskeysPage, { ctx, action, signInHref, passkeys }), {
      title: (ctx) => ctx.t('passkeys.afterReset.title'),
    });
  };
}

/** POST /reset-password/passkeys: removes them, and ends what was begun by them meanwhile. */
export function removeResetPasskeys(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const { database, sessions, outbox, log } = deps;
    const just = await deps.afterReset.take(req, res);
    const user = just && (await findUser(database.db, just.userId));
    if (just && user) {
      const names = (await passkeysSince(deps, user.id, just.sinceMs)).map(({ name }) => name);
      const removed = await database.transaction(async (trx) => {
        const count = await removePasskeysAddedSince(trx, user.id, just.sinceMs);
        if (count > 0) await tellOfChange(trx, deps, user, 'passkey-removed', originOf(req), names.join(', '));
        return count;
      });
      outbox.wake();
      if (removed > 0) await sessions.endAll(user.id);
      log.info({ act: 'reset-passkeys', count: removed }, 'passkeys were removed after a reset');
    }
    res.redirect(303, signInAddress(deps, req));
  };
}
