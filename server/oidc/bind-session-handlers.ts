import { VerifyUserPage } from '../../views/oidc/verify-user-page.tsx';
import { type Continuation, HttpError, type RequestContext } from '../http/index.ts';
import { type CurrentSession, toAcr } from '../sessions/index.ts';
import { redirectToSignIn } from '../sign-in/index.ts';
import type { AuthorizationRequest } from './authorization-requests.ts';
import { requireOwnedRequest } from './client-authorizations.ts';
import type { OidcDeps } from './deps.ts';
import { planRequiredUrl } from './plan-required-handlers.ts';

/** The next address, and the name of its owner. */
interface RedirectTarget {
  location: string;
  clientName?: string;
}

/** The parameters of the pending request, for the pages on its way. */
function continuationQuery(continuation: Continuation, id: string): string {
  const query = new URLSearchParams(continuation.search);
  query.set('authorization_code', id);
  return `?${query}`;
}

/** Answers the request with the session's own record. @returns the address at which the provider resumes */
function answerRequest(
  { requests }: OidcDeps,
  request: AuthorizationRequest,
  { userId, authTimeMs, amr, remember }: CurrentSession,
): Promise<string> {
  return requests.answer(request, userId, {
    login: { accountId: userId, ts: Math.floor(authTimeMs / 1000), amr, acr: toAcr(amr), remember },
    ...(request.asksForAcr && { stepUp: true }),
  });
}

/**
 * Binds the signed-in session to the pending request. The posted data only identify the request: user, time and methods
 * come from the session's own record (`security.md`, rule 2). Tokens in the body, which the specification's callers
 * send, are ignored.
 */
async function bindSession(r: RequestContext, deps: OidcDeps, id: string): Promise<RedirectTarget> {
  const { continuation } = r;
  const found = await deps.sessions.getCurrentUser(r.req);
  const search = continuationQuery(continuation, id);
  const landing = `/${search}`;
  if (!found) return { location: landing };
  const { user, session } = found;
  const request = await requireOwnedRequest(r, deps, id);
  const { step, address } = deps.nextRedirect(user, { ...continuation, authorization: id });
  if (step.kind !== 'authorization') return { location: address };
  // The user is already fixed at this prompt: a posted request must neither replace the user nor renew an old sign-in.
  if (request.interaction.prompt.name === 'consent') {
    return { location: `/consent?${new URLSearchParams({ authorization_code: id })}` };
  }
  if (!request.satisfiedBy(session)) return { location: landing };
  if (!deps.canAccessClient(request.client, user)) return { location: planRequiredUrl(search) };
  await deps.providerSessions.align(r.req, r.res, session);
  return { location: await answerRequest(deps, request, session), clientName: request.clientName };
}

/** Gives a script the address of the new start as if it were the next step. */
function restartInstead(error: unknown): RedirectTarget {
  if (error instanceof HttpError && error.options.redirectTo !== undefined)
    return { location: error.options.redirectTo };
  throw error;
}

/** POST /storage: JSON is answered with `{status, data}`, a form with a page that redirects by itself. */
export async function submitStorage(r: RequestContext, deps: OidcDeps): Promise<void> {
  const id = r.field('authorization_code');
  if (id === '' || id.length > 100) throw new HttpError('badRequest', { detail: 'authorization_code is missing' });
  const { location, clientName } = await bindSession(r, deps, id).catch(restartInstead);
  if (r.req.is('application/json')) {
    r.res.json({ status: 200, data: { location } });
    return;
  }
  r.redirectAway(location, clientName);
}

/** GET /verify-user: shows 'Verifying user profile' and passes the pending request to POST /storage. */
export async function showVerifyUser(r: RequestContext, deps: OidcDeps): Promise<void> {
  const { authorization: id, search } = r.continuation;
  const found = await deps.sessions.getCurrentUser(r.req);
  // The start page handles the short forms.
  if (id === undefined) return r.redirect(`/${search}`);
  if (!found) return redirectToSignIn(r, deps.publicUrl);
  const request = await requireOwnedRequest(r, deps, id);
  const { step } = deps.nextRedirect(found.user, r.continuation);
  // Any other step, or a demand for another user, has precedence.
  const nothingElse = step.kind === 'authorization' && request.satisfiedBy(found.session);
  if (nothingElse && !deps.canAccessClient(request.client, found.user)) return r.redirect(planRequiredUrl(search));
  r.render(
    VerifyUserPage,
    { action: `/storage${search}`, fields: { authorization_code: id }, clientName: request.clientName },
    { title: 'oauth.verify.title' },
  );
}
