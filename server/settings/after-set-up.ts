import type { Request, Response } from 'express';
import type { User } from '../account/index.ts';
import { errandOf, errandOfSearch } from '../http/index.ts';
import { lacksDemandedFactor } from '../sign-in/index.ts';
import type { SettingsDeps } from './deps.ts';

/** Where a member was going who must set up a second factor first; the pages of the set-up lead on to it when they are done. */
const cookieName = 'foyer_after_set_up';
const keptMs = 60 * 60_000;

type Deps = Pick<SettingsDeps, 'cookies' | 'publicUrl'>;

function keptFor({ cookies, publicUrl }: Deps, req: Request, user: User): string | undefined {
  const kept = cookies.read(req, cookieName) ?? '';
  if (!kept.startsWith(`${user.id} `)) return undefined;
  // As everything that a browser says: it leads nowhere but to pages of this site.
  const search = `?${new URLSearchParams({ redirect: kept.slice(user.id.length + 1) })}`;
  return errandOfSearch(search, publicUrl).returnTo;
}

/** Keeps where the page's own address says that they were going. */
export function keepWhereTo(deps: Deps, req: Request, res: Response, user: User): void {
  const { returnTo } = errandOf(req, deps.publicUrl);
  if (returnTo === undefined || !lacksDemandedFactor(user)) return;
  // Another page of the settings, opened meanwhile, does not take the place of what was wanted first.
  const isSettings = /^\/settings(\/|$)/.test(new URL(returnTo).pathname);
  if (isSettings && keptFor(deps, req, user) !== undefined) return;
  deps.cookies.set(res, cookieName, `${user.id} ${returnTo}`, { maxAgeMs: keptMs });
}

/** Where they go on, once: undefined where nothing else waits than the settings. */
export function takeWhereTo(deps: Deps, req: Request, res: Response, user: User): string | undefined {
  const whereTo = keptFor(deps, req, user);
  if (whereTo !== undefined) deps.cookies.clear(res, cookieName);
  return whereTo;
}
