import { createElement } from 'react';
import { VerifyUserPage } from '../../views/oidc/verify-user-page.tsx';
import { continuationFrom } from '../http/index.ts';
import { redirectToSignIn } from '../sign-in/index.ts';
import { requireOwnedRequest } from './bind-session-handlers.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { planRequiredUrl } from './plan-required-handlers.ts';

/** GET /verify-user: shows 'Verifying user profile' and passes the pending request to POST /storage. */
export function showVerifyUser(deps: OauthDeps): Handler {
  return async (req, res) => {
    const continuation = continuationFrom(req, deps.publicUrl);
    const member = await deps.sessions.getCurrentUser(req);
    const id = continuation.authorization;
    // The start page handles the short forms.
    if (id === undefined) return res.redirect(303, `/${continuation.search}`);
    if (!member) return redirectToSignIn({ req, res }, deps.publicUrl);
    const request = await requireOwnedRequest(deps, req, id);
    const { step } = deps.nextRedirect(member.user, continuation);
    // Any other step, or a demand for another user, has precedence.
    const nothingElse = step.kind === 'authorization' && request.satisfiedBy(member.session);
    if (nothingElse && !deps.canAccessClient(request.client, member.user)) {
      return res.redirect(303, planRequiredUrl(continuation.search));
    }
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(VerifyUserPage, {
          ctx,
          action: `/storage${continuation.search}`,
          fields: { authorization_code: id },
          clientName: request.clientName,
        }),
      { title: (ctx) => ctx.t('oauth.verify.title') },
    );
  };
}
