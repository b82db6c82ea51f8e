import { type AuditHooks, type AuditSubscribers, createAuditHooks } from './audit/index.ts';
import { createSessionHooks, type SessionHooks, type SessionSubscribers } from './sessions/index.ts';
import { createUserHooks, type UserHooks, type UserSubscribers } from './users/index.ts';

/** The subscribers of every event. */
export type AllSubscribers = SessionSubscribers & UserSubscribers & AuditSubscribers;

/** All events to which modules of higher layers subscribe; `wiring.ts` lists the subscribers. */
export interface Hooks extends SessionHooks, UserHooks, AuditHooks {
  subscribe(all: AllSubscribers): void;
}

/** Hooks without subscribers. */
export function createHooks(): Hooks {
  const [sessions, users, audit] = [createSessionHooks(), createUserHooks(), createAuditHooks()];
  return {
    ...sessions,
    ...users,
    ...audit,
    subscribe(all) {
      sessions.subscribe(all);
      users.subscribe(all);
      audit.subscribe(all);
    },
  };
}
