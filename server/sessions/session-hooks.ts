import type { Request } from 'express';
import type { HttpExchange } from '../http/index.ts';
import {
  type ClientId,
  type ProviderId,
  runInTurn,
  type SessionIdHash,
  type Subscribers,
  type UserId,
} from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { CurrentSession } from './session.ts';

/** A session that has just started in a browser. */
export interface StartedSession extends HttpExchange {
  readonly user: User;
  readonly session: CurrentSession;
}

/** A browser that a user, a client app or an identity provider has signed out. */
interface SignOut extends HttpExchange {
  /** Undefined: it was not signed in. */
  readonly session: CurrentSession | undefined;
  readonly requestedBy: SignOutRequester;
}

/** The client app or identity provider that requested a sign-out; without either it was the user. */
export interface SignOutRequester {
  clientId?: ClientId | undefined;
  provider?: ProviderId | undefined;
}

/**
 * Events of sessions, for data of other modules that depend on them: the OpenID Provider's session, the grants of client
 * apps, a requested deletion. Those modules belong to higher layers; `wiring.ts` lists their subscribers.
 */
export interface SessionHooks {
  /**
   * Before a sign-in, by any method, takes effect. @returns false if the user has been deleted meanwhile: the sign-in is
   * refused
   */
  beforeSignIn(req: Request, user: User): Promise<boolean>;
  /** The same user signed in again in the same browser: moves dependent data from the old session to the new one. */
  onSessionReplaced(before: CurrentSession, after: CurrentSession): Promise<void>;
  /**
   * A browser has a new session, which can also continue another one: replaces the provider's session in the same answer
   * (`security.md`, rule 4).
   */
  onSessionStarted(started: StartedSession): Promise<void>;
  /** After that, if the user has authenticated in this request: not if a session only continues under a new id. */
  afterSignIn(started: StartedSession): Promise<void>;
  /** Ends all data that depends on these sessions. */
  onSessionsEnded(sessions: readonly { idHash: SessionIdHash; userId: UserId }[]): Promise<void>;
  /**
   * Ends all dependent data of the user, including data whose session record is gone.
   * @param keeps decides for each such session whether its data stays. Undefined: nothing stays
   */
  onAllSessionsEnded(userId: UserId, keeps?: (idHash: SessionIdHash) => Promise<boolean>): Promise<void>;
  /** Ends access that the user gave in other sessions than this one and that outlives them. */
  onOtherSessionsEnded(userId: UserId, keepIdHash: SessionIdHash): Promise<void>;
  /** This browser is signed out: deletes the browser's cookies of other modules. */
  afterSignOut(signOut: SignOut): Promise<void>;
}

/** The subscribers of each event. */
export type SessionSubscribers = { readonly [Event in keyof SessionHooks]: Subscribers<SessionHooks[Event]> };

/** Hooks without subscribers; `subscribe` sets those of the given events. */
export function createSessionHooks(): SessionHooks & { subscribe(listed: Partial<SessionSubscribers>): void } {
  const all: { [Event in keyof SessionHooks]: Subscribers<SessionHooks[Event]> } = {
    beforeSignIn: {},
    onSessionReplaced: {},
    onSessionStarted: {},
    afterSignIn: {},
    onSessionsEnded: {},
    onAllSessionsEnded: {},
    onOtherSessionsEnded: {},
    afterSignOut: {},
  };
  return {
    subscribe: (listed) => void Object.assign(all, listed),
    async beforeSignIn(req, user) {
      for (const allows of Object.values(all.beforeSignIn)) if (!(await allows(req, user))) return false;
      return true;
    },
    onSessionReplaced: (before, after) => runInTurn(all.onSessionReplaced, before, after),
    onSessionStarted: (started) => runInTurn(all.onSessionStarted, started),
    afterSignIn: (started) => runInTurn(all.afterSignIn, started),
    onSessionsEnded: (sessions) => runInTurn(all.onSessionsEnded, sessions),
    onAllSessionsEnded: (userId, keeps) => runInTurn(all.onAllSessionsEnded, userId, keeps),
    onOtherSessionsEnded: (userId, keepIdHash) => runInTurn(all.onOtherSessionsEnded, userId, keepIdHash),
    afterSignOut: (signOut) => runInTurn(all.afterSignOut, signOut),
  };
}
