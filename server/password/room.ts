import type { Request, Response, Router } from 'express';
import type { User } from '../account/index.ts';
import type { Operation } from '../http/index.ts';
import { createAfterReset } from './after-reset.ts';
import { type Changed, changePassword } from './change.ts';
import type { PasswordSettings } from './deps.ts';
import { setFirstPassword } from './first.ts';
import { beginFirstReset, type FirstReset, hintAtFirstReset, type Refused } from './first-reset.ts';
import { forgetGuesses } from './guess-limits.ts';
import { passwordOperations } from './operations.ts';
import { createResetFlows } from './reset-flows.ts';
import { wayToLateWaysIn } from './reset-ways-in.ts';
import { passwordRoutes } from './routes.ts';

export interface PasswordRoom {
  pageRoutes(router: Router): void;
  operations: Operation[];
  /** As `changePassword`. @throws {PasswordQueueFull} */
  change(
    user: User,
    typed: { oldPassword: string; newPassword: string },
    from: Parameters<typeof changePassword>[3],
  ): Promise<Changed>;
  /** As `setFirstPassword`. @throws {PasswordQueueFull} */
  setFirst(user: User, password: string, from: Parameters<typeof setFirstPassword>[3]): Promise<Changed>;
  /** As `beginFirstReset`. */
  beginFirstReset(req: Request, res: Response, whose: Parameters<typeof beginFirstReset>[3]): Promise<FirstReset>;
  /** As `hintAtFirstReset`. */
  hintAtFirstReset(req: Request, res: Response, refused: Refused): void;
  /** As `forgetGuesses`. */
  forgetGuesses(user: Pick<User, 'id' | 'email' | 'phone'>): Promise<void>;
  /** Where whoever has just set the password anew may remove passkeys and links that were added lately; undefined: there are none. */
  wayToLateWaysIn(req: Request, res: Response, userId: string): Promise<string | undefined>;
}

/** The pages and calls by which passwords are replaced: one set of rules behind both. */
export function openPassword({ cookies, ...settings }: PasswordSettings): PasswordRoom {
  const { kv } = settings;
  const deps = { ...settings, flows: createResetFlows(kv, cookies), afterReset: createAfterReset(kv, cookies) };
  return {
    pageRoutes: (router) => passwordRoutes(router, deps),
    operations: passwordOperations(deps),
    wayToLateWaysIn: (...given) => wayToLateWaysIn(deps, ...given),
    forgetGuesses: (user) => forgetGuesses(kv, settings.limits, user),
    beginFirstReset: (...given) => beginFirstReset(deps, ...given),
    hintAtFirstReset: (...given) => hintAtFirstReset(deps, ...given),
    change: (user, typed, from) => changePassword(deps, user, typed, from),
    setFirst: (user, typed, from) => setFirstPassword(deps, user, typed, from),
  };
}
