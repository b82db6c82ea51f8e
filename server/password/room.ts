import type { Request, Response, Router } from 'express';
import type { ApiOperation, RequestContext } from '../http/index.ts';
import type { UserId } from '../shared/index.ts';
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
  /** See `changePassword`. @throws {PasswordQueueFullError} */
  change(
    user: User,
    typed: { oldPassword: string; newPassword: string },
    from: Parameters<typeof changePassword>[3],
  ): Promise<ChangePasswordResult>;
  /** See `setInitialPassword`. @throws {PasswordQueueFullError} */
  setFirst(user: User, password: string, from: Parameters<typeof setInitialPassword>[3]): Promise<ChangePasswordResult>;
  /** See `startInitialPassword`. */
  beginFirstReset(r: RequestContext, owner: Parameters<typeof startInitialPassword>[2]): Promise<InitialPasswordResult>;
  /** See `mailInitialPasswordHint`. */
  hintAtFirstReset(r: RequestContext, refused: Refused): void;
  /** See `forgetGuesses`. */
  forgetGuesses(user: Pick<User, 'id' | 'email' | 'phone'>): Promise<void>;
  /**
   * The page where the browser that has just reset the password can remove recently added passkeys and links;
   * undefined: there are none.
   */
  recentFactorsUrl(req: Request, res: Response, userId: UserId): Promise<string | undefined>;
}

/** The pages and calls that replace passwords: one set of rules behind both. */
export function createPasswordModule({ cookies, ...settings }: PasswordSettings): PasswordModule {
  const { kv } = settings;
  const deps = { ...settings, flows: createResetRecords(kv, cookies), afterReset: createRecentResets(kv, cookies) };
  return {
    pageRoutes: (router) => passwordRoutes(router, deps),
    operations: passwordOperations(deps),
    recentFactorsUrl: (...args) => recentFactorsUrl(deps, ...args),
    forgetGuesses: (user) => forgetGuesses(kv, settings.limits, user),
    beginFirstReset: (r, owner) => startInitialPassword(r, deps, owner),
    hintAtFirstReset: (r, refused) => mailInitialPasswordHint(r, deps, refused),
    change: (user, typed, from) => changePassword(deps, user, typed, from),
    setFirst: (user, typed, from) => setInitialPassword(deps, user, typed, from),
  };
}
