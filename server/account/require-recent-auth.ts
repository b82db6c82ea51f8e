import type { Request, RequestHandler, Response } from 'express';
import { enforces, HttpError, recentAuthMs, toRetrySeconds } from '../http/index.ts';
import { consumeLimits, rateLimits } from '../rate-limits/index.ts';
import { type CurrentSession, fullyAuthenticatedAt } from '../sessions/index.ts';
import { blocksAuthorization, isEnrolmentPage, redirectToSignIn } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';

export interface SignedInUser {
  user: User;
  session: CurrentSession;
}

export type MemberHandler = (req: Request, res: Response, member: SignedInUser) => unknown;

export type GuardDeps = Pick<AccountDeps, 'publicUrl' | 'sessions' | 'nextRedirect' | 'now'>;

/** For users only (the specification's guarded-route wrapper), without an open step such as new terms. */
export function requireUser(deps: GuardDeps, handler: MemberHandler): RequestHandler {
  return enforces<RequestHandler>('member', async (req, res) => {
    const member = await deps.sessions.getCurrentUser(req);
    // A form's address is the page's own, so that its visitor returns to the form.
    if (!member) return redirectToSignIn({ req, res }, deps.publicUrl);
    // The first rule depends on the page: some are open to users who have not accepted the terms.
    const continuation = { returnTo: new URL(req.originalUrl, deps.publicUrl).href, search: '' };
    const { step, address } = deps.nextRedirect(member.user, continuation);
    const isSettingUp = step.kind === 'set-up-second-factor' && isEnrolmentPage(req.originalUrl, deps.publicUrl);
    if (blocksAuthorization(step) && !isSettingUp) return res.redirect(303, address);
    await handler(req, res, member);
  });
}

/** The same with a recent authentication: otherwise the user authenticates again, and returns here. */
export function requireRecentAuth(deps: GuardDeps & Pick<AccountDeps, 'kv'>, handler: MemberHandler): RequestHandler {
  const guarded = requireUser(deps, async (req, res, member) => {
    if (req.method === 'POST') await consumeFormLimit(deps, member);
    if (isRecentlyAuthenticated(member, deps.now())) return handler(req, res, member);
    res.redirect(303, reAuthenticateFor(req));
  });
  return enforces('recent', guarded);
}

/** The address of the re-authentication that returns here. */
export const reAuthenticateFor = (req: Request): string =>
  `/re-authenticate?${new URLSearchParams({ redirect: req.originalUrl })}`;

/**
 * Most of these forms write a mail, and a thief could bury the important one under a thousand others. Counted by
 * browser, so that the user can still undo in another browser the changes of this one: re-authentication keeps the
 * browser, while a new sign-in is a new one, which the user's own limit counts.
 * @throws {HttpError} tooMany
 */
async function consumeFormLimit({ kv }: Pick<AccountDeps, 'kv'>, { user, session }: SignedInUser): Promise<void> {
  const keys = { device: session.browserId ?? session.idHash, account: user.id };
  const decision = await consumeLimits(kv, rateLimits.settingsForm, keys);
  if (decision.allowed) return;
  const retryAfterSeconds = toRetrySeconds(decision.retryAfterMs);
  throw new HttpError('tooMany', { detail: `too many settings forms of one ${decision.limit}`, retryAfterSeconds });
}

/** A recent authentication includes the second factor, if there is one. */
export function isRecentlyAuthenticated({ user, session }: SignedInUser, nowMs: number): boolean {
  const shownAtMs = fullyAuthenticatedAt(user, session);
  return shownAtMs !== undefined && nowMs - shownAtMs <= recentAuthMs;
}
