import { enforces, type PageHandler, type RequestContext, type RequestServices } from '../http/index.ts';
import type { CurrentSession, Sessions } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import { isEnrolmentPage, type NextRedirect } from './next-redirect.ts';
import { blocksAuthorization } from './next-step.ts';
import { redirectToSignIn } from './require-sign-in.ts';

/** A request of a signed-in user. */
export interface UserRequest extends RequestContext {
  readonly user: User;
  readonly session: CurrentSession;
}

export interface UserGuardDeps extends RequestServices {
  sessions: Pick<Sessions, 'getCurrentUser'>;
  nextRedirect: NextRedirect;
}

/**
 * For users only (the specification's guarded-route wrapper), without an open step such as new terms. Others are
 * redirected to the sign-in, or to their open step.
 */
export function requireUser<Deps extends UserGuardDeps>(handler: PageHandler<Deps, UserRequest>): PageHandler<Deps> {
  return enforces('member', async (r: RequestContext, deps: Deps) => {
    const found = await deps.sessions.getCurrentUser(r.req);
    // A form's address is the page's own, so that its visitor returns to the form.
    if (!found) return redirectToSignIn(r, deps.publicUrl);
    // The first rule depends on the page: some are open to users who have not accepted the terms.
    const returnTo = new URL(r.req.originalUrl, deps.publicUrl).href;
    const { step, address } = deps.nextRedirect(found.user, { returnTo, search: '' });
    const isSettingUp = step.kind === 'set-up-second-factor' && isEnrolmentPage(r.req.originalUrl, deps.publicUrl);
    if (blocksAuthorization(step) && !isSettingUp) return r.redirect(address);
    await handler(Object.assign(r, found), deps);
  });
}
