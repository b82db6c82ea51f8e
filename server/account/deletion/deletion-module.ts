import type { Request, Router } from 'express';
import type { Transaction } from 'kysely';
import type { CancellationTiming, RenewingSubscription } from '../../billing/index.ts';
import { pageRoutes } from '../../http/index.ts';
import { getRequestOrigin } from '../../sessions/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import type { User } from '../../users/index.ts';
import { exportPersonalData } from '../export/export-personal-data.ts';
import { ownDataSources } from '../export/personal-data-sources.ts';
import { cancelFactorResetRoutes } from '../factor-reset/cancel-factor-reset-handlers.ts';
import { applyDueResets, cancelFactorReset } from '../factor-reset/factor-reset.ts';
import { type FactorReset, findWaitingReset } from '../factor-reset/factor-reset-store.ts';
import { eraseDueAccounts } from './delete-due-accounts.ts';
import type { DeletionDeps, LeavingSettings } from './deletion-deps.ts';
import { startDeletionJob } from './deletion-job.ts';
import { deletionRequestedRoute } from './deletion-requested-handlers.ts';
import {
  cancelDeletionOnSignIn,
  cancelDeletionsRequestedSince,
  findRecentCancellation,
  type RequestDeletionResult,
  requestDeletion,
} from './request-deletion.ts';

export interface DeletionModule {
  /** Requests deletion: ends all sessions. A paid membership ends as the user chose. */
  ask(user: User, req: Request, timing: CancellationTiming): Promise<RequestDeletionResult>;
  /** The membership that {@link ask} would end. */
  findRenewingSubscription(userId: UserId): Promise<RenewingSubscription | undefined>;
  /** Cancels a request for deletion at or after a time. */
  takeBack(trx: Transaction<Schema>, userId: UserId, sinceMs: number): Promise<void>;
  /** Every sign-in calls this, and cancels a requested deletion. @returns false if everything is already erased */
  signedIn(req: Request, user: User): Promise<boolean>;
  /** The time of a request that a sign-in cancelled recently (milliseconds since the epoch). */
  cancelledLately(userId: UserId): Promise<number | undefined>;
  /** All stored data of a user, as JSON. */
  findExport(user: User): Promise<Record<string, unknown>>;
  /** A second factor that an operator was asked to remove. */
  findPendingReset(userId: UserId): Promise<FactorReset | undefined>;
  cancelReset(userId: UserId): Promise<boolean>;
  /** Erases due accounts, and removes due second factors; runs periodically. */
  work(): Promise<void>;
  pageRoutes(router: Router): void;
  stop(): Promise<void>;
}

/** Deletion and export of accounts, and operators' resets of second factors. */
export function createDeletionModule({
  pages,
  cookies,
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
      const add = pageRoutes(router, { ...deps, pages, cookies });
      deletionRequestedRoute(add);
      cancelFactorResetRoutes(add);
    },
    stop: startDeletionJob(deps, work),
  };
}
