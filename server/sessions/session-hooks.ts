import type { Request, Response } from 'express';
import type { SessionIdHash, UserId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { CurrentSession } from './session.ts';

/**
 * Events of sessions, for data of other modules that depend on them: the OpenID Provider's session, the grants of client
 * apps, a requested deletion. Those modules belong to higher layers; `wiring.ts` lists them as subscribers.
 */
export interface SessionHooks {
  /**
   * Before a sign-in, by any method, takes effect. @returns false if the user has been deleted meanwhile: the sign-in is
   * refused
   */
  beforeSignIn(req: Request, user: User): Promise<boolean>;
  /** After a sign-in: replaces the provider's session in the same answer (`security.md`, rule 4). */
  began(req: Request, res: Response, session: CurrentSession): Promise<void>;
  /** The same user signed in again in the same browser: moves dependent data from the old session to the new one. */
  replaced(before: CurrentSession, after: CurrentSession): Promise<void>;
  /** Ends all data that depends on these sessions. */
  ended(sessions: readonly { idHash: SessionIdHash; userId: UserId }[]): Promise<void>;
  /**
   * Ends all dependent data of the user, including data whose session record is gone.
   * @param keeps decides for each such session whether its data stays. Undefined: nothing stays
   */
  allEnded(userId: UserId, keeps?: (idHash: SessionIdHash) => Promise<boolean>): Promise<void>;
  /** Ends access that the user gave in other sessions than this one and that outlives them. */
  othersEnded(userId: UserId, keepIdHash: SessionIdHash): Promise<void>;
  /** Deletes the browser's own provider cookie. */
  cleared(req: Request, res: Response): Promise<void>;
}

/** A module's part of the hooks. */
export type SessionSubscriber = Partial<SessionHooks>;

/** Hooks without subscribers. Each event reaches the subscribers one after the other, in the order of `subscribe`. */
export function createSessionHooks(): SessionHooks & { subscribe(...more: SessionSubscriber[]): void } {
  const subscribers: SessionSubscriber[] = [];
  const inTurn = async (act: (subscriber: SessionSubscriber) => Promise<void> | undefined): Promise<void> => {
    for (const subscriber of subscribers) await act(subscriber);
  };
  return {
    subscribe: (...more) => void subscribers.push(...more),
    async beforeSignIn(req, user) {
      for (const subscriber of subscribers) {
        if ((await subscriber.beforeSignIn?.(req, user)) === false) return false;
      }
      return true;
    },
    began: (req, res, session) => inTurn((one) => one.began?.(req, res, session)),
    replaced: (before, after) => inTurn((one) => one.replaced?.(before, after)),
    ended: (sessions) => inTurn((one) => one.ended?.(sessions)),
    allEnded: (userId, keeps) => inTurn((one) => one.allEnded?.(userId, keeps)),
    othersEnded: (userId, keepIdHash) => inTurn((one) => one.othersEnded?.(userId, keepIdHash)),
    cleared: (req, res) => inTurn((one) => one.cleared?.(req, res)),
  };
}
