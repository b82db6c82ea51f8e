import type { Request } from 'express';
import type { PageUser } from '../../views/page-context.ts';

/** The member whom pages greet, and the language that they have chosen, if they have. */
export interface PageUserState {
  member: PageUser;
  locale: string | null;
  /** Notifications that they have not read. */
  unread?: number;
}

const greetings = new WeakMap<Request, PageUserState>();

/** Told by whoever has found out who is there: every page that answers this request then shows it. */
export function setPageUser(req: Request, greeting: PageUserState): void {
  greetings.set(req, greeting);
}

export function getPageUser(req: Request): PageUserState | undefined {
  return greetings.get(req);
}
