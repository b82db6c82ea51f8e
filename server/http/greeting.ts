import type { Request } from 'express';
import type { PageMember } from '../../views/page-context.ts';

/** The member whom pages greet, and the language that they have chosen, if they have. */
export interface Greeting {
  member: PageMember;
  locale: string | null;
  /** Notifications that they have not read. */
  unread?: number;
}

const greetings = new WeakMap<Request, Greeting>();

/** Told by whoever has found out who is there: every page that answers this request then shows it. */
export function greet(req: Request, greeting: Greeting): void {
  greetings.set(req, greeting);
}

export function greeted(req: Request): Greeting | undefined {
  return greetings.get(req);
}
