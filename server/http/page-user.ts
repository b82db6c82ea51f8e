import type { Request } from 'express';
import type { PageUser } from '../../views/page-context.ts';

/** The user whom the page header shows, and their preferred language, if set. */
export interface PageUserState {
  member: PageUser;
  locale: string | null;
  /** Number of unread notifications. */
  unread?: number;
}

const greetings = new WeakMap<Request, PageUserState>();

/** Sets the user of this request; every page that answers the request shows them in its header. */
export function setPageUser(req: Request, greeting: PageUserState): void {
  greetings.set(req, greeting);
}

export function getPageUser(req: Request): PageUserState | undefined {
  return greetings.get(req);
}
