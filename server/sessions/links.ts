import type { Request, Response } from 'express';
import type { CurrentSession } from './session.ts';

/**
 * Data that depend on a session elsewhere: the OpenID Provider's session and the client apps' grants. `app.ts` connects
 * them, because this room does not know that one.
 */
export interface SessionLinks {
  /** After a sign-in: the provider's session is replaced in the same answer (`security.md`, rule 4). */
  began(req: Request, res: Response, session: CurrentSession): Promise<void>;
  /** The same member signed in again in the same browser: what hung on the old session now hangs on the new one. */
  replaced(before: CurrentSession, after: CurrentSession): Promise<void>;
  /** Everything that hung on the sessions ends. */
  ended(sessions: readonly { idHash: string; userId: string }[]): Promise<void>;
  /**
   * Everything of the member ends, also what no session's record names any more.
   * @param keeps of a session on which something hangs: whether that stays. Undefined: nothing stays
   */
  allEnded(userId: string, keeps?: (idHash: string) => Promise<boolean>): Promise<void>;
  /** Access that the member gave in other sessions than this one, and that outlives them, ends. */
  othersEnded(userId: string, keepIdHash: string): Promise<void>;
  /** The browser's own provider cookie goes. */
  cleared(req: Request, res: Response): Promise<void>;
}
