import type { Request, Response, Router } from 'express';
import type { ApiOperation } from '../http/index.ts';
import type { User } from '../users/index.ts';
import { type ChangePasswordResult, changePassword } from './change-password.ts';
import type { PasswordSettings } from './deps.ts';
import { forgetGuesses } from './guess-limits.ts';
import {
  type InitialPasswordResult,
  mailInitialPasswordHint,
  type Refused,
  startInitialPassword,
} from './initial-password.ts';
import { passwordOperations } from './operations.ts';
import { recentFactorsUrl } from './recent-factors-handlers.ts';
import { createRecentResets } from './recent-resets.ts';
import { createResetRecords } from './reset-records.ts';
import { passwordRoutes } from './routes.ts';
import { setInitialPassword } from './set-initial-password.ts';

export interface PasswordModule {
  pageRoutes(router: Router): void;
  operations: ApiOperation[];
  /** As `changePassword`. @throws {PasswordQueueFull} */
  change(
    user: User,
    typed: { oldPassword: string; newPassword: string },
    from: Parameters<typeof changePassword>[3],
  ): Promise<ChangePasswordResult>;
  /** As `setFirstPassword`. @throws {PasswordQueueFull} */
  setFirst(user: User, password: string, from: Parameters<typeof setInitialPassword>[3]): Promise<ChangePasswordResult>;
  /** As `beginFirstReset`. */
  beginFirstReset(
    req: Request,
    res: Response,
    owner: Parameters<typeof startInitialPassword>[3],
  ): Promise<InitialPasswordResult>;
  /** As `hintAtFirstReset`. */
  hintAtFirstReset(req: Request, res: Response, refused: Refused): void;
  /** As `forgetGuesses`. */
  forgetGuesses(user: Pick<User, 'id' | 'email' | 'phone'>): Promise<void>;
  /** Where whoever has just set the password anew may remove passkeys and links that were added lately; undefined: there are none. */
  wayToLateWaysIn(req: Request, res: Response, userId: string): Promise<string | undefined>;
}

/** The pages and calls by which passwords are replaced: one set of rules behind both. */
export function createPasswordModule({ cookies, ...settings }: PasswordSettings): PasswordModule {
  const { kv } = settings;
  const deps = { ...settings, flows: createResetRecords(kv, cookies), afterReset: createRecentResets(kv, cookies) };
  return {
    pageRoutes: (router) => passwordRoutes(router, deps),
    operations: passwordOperations(deps),
    wayToLateWaysIn: (...args) => recentFactorsUrl(deps, ...args),
    forgetGuesses: (user) => forgetGuesses(kv, settings.limits, user),
    beginFirstReset: (...args) => startInitialPassword(deps, ...args),
    hintAtFirstReset: (...args) => mailInitialPasswordHint(deps, ...args),
    change: (user, typed, from) => changePassword(deps, user, typed, from),
    setFirst: (user, typed, from) => setInitialPassword(deps, user, typed, from),
  };
}
