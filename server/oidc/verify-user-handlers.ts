import { VerifyUserPage } from '../../views/oidc/verify-user-page.tsx';
import type { RequestContext } from '../http/index.ts';
import { redirectToSignIn } from '../sign-in/index.ts';
import { requireOwnedRequest } from './client-authorizations.ts';
import type { OidcDeps } from './deps.ts';
import { planRequiredUrl } from './plan-required-handlers.ts';

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
