import type { Request, Router } from 'express';
import type { Transaction } from 'kysely';
import { getRequestOrigin } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { cancelFactorResetRoutes } from './cancel-factor-reset-handlers.ts';
import { startDeletionJob } from './deletion-job.ts';
import { deletionRequestedRoute } from './deletion-requested-handlers.ts';
import type { CancellationTiming, DeletionDeps, LeavingSettings, RenewingSubscription } from './deps.ts';
import { eraseDueAccounts } from './erase-due-accounts.ts';
import { exportPersonalData } from './export-personal-data.ts';
import { applyDueResets, cancelFactorReset } from './factor-reset.ts';
import { type FactorReset, findWaitingReset } from './factor-reset-store.ts';
import { ownDataSources } from './personal-data-sources.ts';
import {
  cancelDeletionOnSignIn,
  cancelDeletionsRequestedSince,
  findRecentCancellation,
  type RequestDeletionResult,
  requestDeletion,
} from './request-deletion.ts';

export interface DeletionModule {
  /** The member wants to leave: they are signed out everywhere. A paid membership ends as they wish. */
  ask(user: User, req: Request, timing: CancellationTiming): Promise<RequestDeletionResult>;
  /** What {@link ask} would end. */
  findRenewingSubscription(userId: UserId): Promise<RenewingSubscription | undefined>;
  /** Takes back a wish to leave that was uttered at or after a moment. */
  takeBack(trx: Transaction<Schema>, userId: UserId, sinceMs: number): Promise<void>;
  /** Every sign-in passes here, and keeps a member who wanted to leave. @returns false when everything of them is erased already */
  signedIn(req: Request, user: User): Promise<boolean>;
  /** When a member had asked to leave who has signed in since, lately (milliseconds since the epoch). */
  cancelledLately(userId: UserId): Promise<number | undefined>;
  /** Everything that is stored of a member, as JSON. */
  findExport(user: User): Promise<Record<string, unknown>>;
  /** A second factor that an operator was asked to take away. */
  findPendingReset(userId: UserId): Promise<FactorReset | undefined>;
  cancelReset(userId: UserId): Promise<boolean>;
  /** Erases whose time has come, and takes second factors away that are due; done by itself now and then. */
  work(): Promise<void>;
  pageRoutes(router: Router): void;
  stop(): Promise<void>;
}

/** Members who leave, and what operators do to accounts at their members' wish. */
export function createDeletionModule({
  pages,
  outboxBox,
  personalDataSources,
  ...common
}: LeavingSettings): DeletionModule {
  const deps: DeletionDeps = {
    ...common,
    personalDataSources: [...personalDataSources, ...ownDataSources({ ...common, outboxBox })],
  };
  const work = async () => {
    await eraseDueAccounts(deps);
    await applyDueResets(deps);
  };
  return {
    ask: (user, req, timing) => requestDeletion(deps, user, getRequestOrigin(req), timing),
    findRenewingSubscription: (userId) => deps.membership.findRenewing(userId, deps.now()),
    takeBack: async (trx, userId, sinceMs) => void (await cancelDeletionsRequestedSince(deps, trx, userId, sinceMs)),
    signedIn: (req, user) => cancelDeletionOnSignIn(deps, user, getRequestOrigin(req)),
    cancelledLately: (userId) => findRecentCancellation(deps.kv, userId),
    findExport: (user) => exportPersonalData(deps, user),
    findPendingReset: (userId) => findWaitingReset(deps.database.db, { userId }),
    cancelReset: (userId) => cancelFactorReset(deps, userId),
    work,
    pageRoutes(router) {
      deletionRequestedRoute(router, pages);
      cancelFactorResetRoutes(router, { ...deps, pages });
    },
    stop: startDeletionJob(deps, work),
  };
}
