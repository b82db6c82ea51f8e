import type { Request } from 'express';
import {
  consumeLimits,
  enforces,
  HttpError,
  type PageHandler,
  type RequestContext,
  rateLimits,
  recentAuthMs,
  toRetrySeconds,
} from '../http/index.ts';
import { type CurrentSession, fullyAuthenticatedAt } from '../sessions/index.ts';
import { requireUser, type UserGuardDeps, type UserRequest } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import type { KeptFields } from './form-drafts.ts';

type RecentAuthDeps = UserGuardDeps & Pick<AccountDeps, 'formDrafts' | 'kv' | 'now'>;

/**
 * For users with a recent authentication: others authenticate again, and return here.
 * @param keep the fields of a late form that its page finds in `deps.formDrafts`; no secrets
 */
export function requireRecentAuth<Deps extends RecentAuthDeps>(
  handler: PageHandler<Deps, UserRequest>,
  keep?: KeptFields,
): PageHandler<Deps> {
  const guarded = requireUser<Deps>(async (r, deps) => {
    if (r.req.method === 'POST') await consumeFormLimit(r, deps);
    if (isRecentlyAuthenticated(r, deps.now())) return handler(r, deps);
    if (r.req.method === 'POST' && keep) await deps.formDrafts.saveDraft(r, keep);
    r.redirect(reAuthenticateFor(r.req));
  });
  return enforces('recent', (r: RequestContext, deps: Deps) => guarded(r, deps));
}

/** The address of the re-authentication that returns here. */
export const reAuthenticateFor = (req: Request): string =>
  `/re-authenticate?${new URLSearchParams({ redirect: req.originalUrl })}`;

/** A recent authentication includes the second factor, if there is one. */
export function isRecentlyAuthenticated(
  { user, session }: { user: User; session: CurrentSession },
  nowMs: number,
): boolean {
  const presentedAtMs = fullyAuthenticatedAt(user, session);
  return presentedAtMs !== undefined && nowMs - presentedAtMs <= recentAuthMs;
}

/**
 * Most of these forms write a mail, and a thief could bury the important one under a thousand others. Counted by
 * browser, so that the user can still undo in another browser the changes of this one: re-authentication keeps the
 * browser, while a new sign-in is a new one, which the user's own limit counts.
 * @throws {HttpError} tooMany
 */
async function consumeFormLimit({ user, session }: UserRequest, { kv }: RecentAuthDeps): Promise<void> {
  const keys = { device: session.browserId ?? session.idHash, account: user.id };
  const decision = await consumeLimits(kv, rateLimits.settingsForm, keys);
  if (decision.allowed) return;
  const retryAfterSeconds = toRetrySeconds(decision.retryAfterMs);
  throw new HttpError('tooMany', { detail: `too many settings forms of one ${decision.limit}`, retryAfterSeconds });
}
