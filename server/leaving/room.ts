import type { Request, Router } from 'express';
import type { Transaction } from 'kysely';
import type { User } from '../account/index.ts';
import { originOf } from '../session/index.ts';
import type { Schema } from '../store/index.ts';
import { cancelFactorResetRoutes } from './cancel-reset-page.ts';
import { askForDeletion, cancelAskedSince, cancelledLately, type DeletionAsked, stayBySigningIn } from './deletion.ts';
import { deletionAskedRoute } from './deletion-asked-page.ts';
import type { GoingOn, LeavingDeps, LeavingSettings, MembershipEnd } from './deps.ts';
import { exportOf } from './export.ts';
import { cancelFactorReset, carryOutDueResets } from './factor-reset.ts';
import { type FactorReset, findWaitingReset } from './factor-reset-store.ts';
import { ownHoldings } from './holdings.ts';
import { eraseDue } from './sweep.ts';
import { workNowAndThen } from './work.ts';

export interface LeavingRoom {
  /** The member wants to leave: they are signed out everywhere. A paid membership ends as they wish. */
  ask(user: User, req: Request, wish: MembershipEnd): Promise<DeletionAsked>;
  /** What {@link ask} would end. */
  membershipOf(userId: string): Promise<GoingOn | undefined>;
  /** Takes back a wish to leave that was uttered at or after a moment. */
  takeBack(trx: Transaction<Schema>, userId: string, sinceMs: number): Promise<void>;
  /** Every sign-in passes here, and keeps a member who wanted to leave. @returns false when everything of them is erased already */
  signedIn(req: Request, user: User): Promise<boolean>;
  /** When a member had asked to leave who has signed in since, lately (milliseconds since the epoch). */
  cancelledLately(userId: string): Promise<number | undefined>;
  /** Everything that is stored of a member, as JSON. */
  exportOf(user: User): Promise<Record<string, unknown>>;
  /** A second factor that an operator was asked to take away. */
  waitingReset(userId: string): Promise<FactorReset | undefined>;
  cancelReset(userId: string): Promise<boolean>;
  /** Erases whose time has come, and takes second factors away that are due; done by itself now and then. */
  work(): Promise<void>;
  pageRoutes(router: Router): void;
  stop(): Promise<void>;
}

/** Members who leave, and what operators do to accounts at their members' wish. */
export function openLeaving({ pages, outboxBox, holdings, ...common }: LeavingSettings): LeavingRoom {
  const deps: LeavingDeps = { ...common, holdings: [...holdings, ...ownHoldings({ ...common, outboxBox })] };
  const work = async () => {
    await eraseDue(deps);
    await carryOutDueResets(deps);
  };
  return {
    ask: (user, req, wish) => askForDeletion(deps, user, originOf(req), wish),
    membershipOf: (userId) => deps.membership.goingOn(userId, deps.now()),
    takeBack: async (trx, userId, sinceMs) => void (await cancelAskedSince(deps, trx, userId, sinceMs)),
    signedIn: (req, user) => stayBySigningIn(deps, user, originOf(req)),
    cancelledLately: (userId) => cancelledLately(deps.kv, userId),
    exportOf: (user) => exportOf(deps, user),
    waitingReset: (userId) => findWaitingReset(deps.database.db, { userId }),
    cancelReset: (userId) => cancelFactorReset(deps, userId),
    work,
    pageRoutes(router) {
      deletionAskedRoute(router, pages);
      cancelFactorResetRoutes(router, { ...deps, pages });
    },
    stop: workNowAndThen(deps, work),
  };
}
