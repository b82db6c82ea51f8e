import {
  continuationFrom,
  enforces,
  type HttpExchange,
  type PageHandler,
  type RequestContext,
  type RequestServices,
  seeOther,
} from '../http/index.ts';
import type { CurrentSession, Sessions } from '../sessions/index.ts';
import { findOpenStep, type TermsVersion, type User } from '../users/index.ts';
import { isEnrolmentPage, type NextRedirect } from './next-redirect.ts';
import { blocksAuthorization } from './next-step.ts';

/** A request of a signed-in user. */
export interface UserRequest extends RequestContext {
  readonly user: User;
  readonly session: CurrentSession;
}

/** The facts that decide about access to a page. */
export interface UserLookupDeps {
  publicUrl: string;
  sessions: Pick<Sessions, 'getCurrentUser'>;
  terms: TermsVersion;
  nextRedirect: NextRedirect;
}

export type UserGuardDeps = RequestServices & UserLookupDeps;

/**
 * The signed-in user without an open step such as new terms. Others are redirected to the sign-in, or to their open
 * step.
 */
export async function findUserOrRedirect(
  exchange: HttpExchange,
  { publicUrl, sessions, terms, nextRedirect }: UserLookupDeps,
): Promise<Pick<UserRequest, 'user' | 'session'> | undefined> {
  const { req } = exchange;
  const found = await sessions.getCurrentUser(req);
  if (!found) {
    // A form's address is the page's own, so that its visitor returns to the form.
    redirectToSignIn(exchange, publicUrl);
    return undefined;
  }
  if (findOpenStep(found.user, terms) === undefined) return found;
  // Which step is next depends on the page: some are open to users who have not accepted the terms.
  const returnTo = new URL(req.originalUrl, publicUrl).href;
  const { step, address } = nextRedirect(found.user, { returnTo, search: '' });
  const isSettingUp = step.kind === 'set-up-second-factor' && isEnrolmentPage(req.originalUrl, publicUrl);
  if (!blocksAuthorization(step) || isSettingUp) return found;
  seeOther(exchange, address);
  return undefined;
}

/** For users only (the specification's guarded-route wrapper): see {@link findUserOrRedirect}. */
export function requireUser<Deps extends UserGuardDeps>(handler: PageHandler<Deps, UserRequest>): PageHandler<Deps> {
  return enforces('member', async (r: RequestContext, deps: Deps) => {
    const found = await findUserOrRedirect(r, deps);
    if (found) await handler(Object.assign(r, found), deps);
  });
}

/**
 * Sends a visitor to the landing page to sign in first, with the requested page as `redirect` and with the pending
 * request from that page's own address (the specification's guarded-route wrapper).
 */
export function redirectToSignIn({ req, res }: HttpExchange, publicUrl: string, page = req.originalUrl): void {
  const query = new URLSearchParams(continuationFrom(req, publicUrl).search);
  query.set('redirect', page);
  seeOther({ req, res }, `/?${query}`);
}
