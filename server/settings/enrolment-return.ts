import type { Request, Response } from 'express';
import { continuationFrom, continuationFromQuery } from '../http/index.ts';
import { mustSetUpSecondFactor } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';

/** The target of a user who must set up a second factor first; the pages of the set-up redirect there afterwards. */
const cookieName = 'foyer_after_set_up';
const keptMs = 60 * 60_000;

type Deps = Pick<AccountDeps, 'cookies' | 'publicUrl'>;

function readEnrolmentReturn({ cookies, publicUrl }: Deps, req: Request, user: User): string | undefined {
  const stored = cookies.read(req, cookieName) ?? '';
  if (!stored.startsWith(`${user.id} `)) return undefined;
  // Untrusted, like all input: it can only lead to pages of this site.
  const search = `?${new URLSearchParams({ redirect: stored.slice(user.id.length + 1) })}`;
  return continuationFromQuery(search, publicUrl).returnTo;
}

/** Stores the target from the page's own address. */
export function rememberEnrolmentReturn(deps: Deps, req: Request, res: Response, user: User): void {
  const { returnTo } = continuationFrom(req, deps.publicUrl);
  if (returnTo === undefined || !mustSetUpSecondFactor(user)) return;
  // Another page of the settings, opened meanwhile, must not replace the original target.
  const isSettings = /^\/settings(\/|$)/.test(new URL(returnTo).pathname);
  if (isSettings && readEnrolmentReturn(deps, req, user) !== undefined) return;
  deps.cookies.set(res, cookieName, `${user.id} ${returnTo}`, { maxAgeMs: keptMs });
}

/** The target, once: undefined if there is none besides the settings. */
export function takeEnrolmentReturn(deps: Deps, req: Request, res: Response, user: User): string | undefined {
  const whereTo = readEnrolmentReturn(deps, req, user);
  if (whereTo !== undefined) deps.cookies.clear(res, cookieName);
  return whereTo;
}
