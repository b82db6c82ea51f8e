import type { Request, Response } from 'express';
import type { SessionIdHash, UserId } from '../shared/index.ts';
import type { CurrentSession } from './session.ts';

/**
 * Data of other modules that depend on a session: the OpenID Provider's session and the client apps' grants.
 * `wiring.ts` connects them, because they belong to a higher layer.
 */
export interface SessionLinks {
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
