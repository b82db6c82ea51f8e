import { continuationFromQuery } from '../../http/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import { mustSetUpSecondFactor } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';

/** The target of a user who must set up a second factor first; the pages of the set-up redirect there afterwards. */
const cookieName = 'foyer_after_set_up';
const keptMs = 60 * 60_000;

type Deps = Pick<AccountDeps, 'publicUrl'>;

function readEnrolmentReturn(r: UserRequest, { publicUrl }: Deps): string | undefined {
  const stored = r.cookie(cookieName) ?? '';
  if (!stored.startsWith(`${r.user.id} `)) return undefined;
  // Untrusted, like all input: it can only lead to pages of this site.
  const search = `?${new URLSearchParams({ redirect: stored.slice(r.user.id.length + 1) })}`;
  return continuationFromQuery(search, publicUrl).returnTo;
}

/** Stores the target from the page's own address. */
export function rememberEnrolmentReturn(r: UserRequest, deps: Deps): void {
  const { returnTo } = r.continuation;
  if (returnTo === undefined || !mustSetUpSecondFactor(r.user)) return;
  // Another page of the settings, opened meanwhile, must not replace the original target.
  const isSettings = /^\/settings(\/|$)/.test(new URL(returnTo).pathname);
  if (isSettings && readEnrolmentReturn(r, deps) !== undefined) return;
  r.setCookie(cookieName, `${r.user.id} ${returnTo}`, { maxAgeMs: keptMs });
}

/** The target, once: undefined if there is none besides the settings. */
export function takeEnrolmentReturn(r: UserRequest, deps: Deps): string | undefined {
  const target = readEnrolmentReturn(r, deps);
  if (target !== undefined) r.clearCookie(cookieName);
  return target;
}
