import { createElement } from 'react';
import { VerifyUserPage } from '../../views/oauth/verify-user-page.tsx';
import { errandOf } from '../http/index.ts';
import { askToSignIn } from '../sign-in/index.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { notInPlanAddress } from './not-in-plan.ts';
import { ownRequest } from './storage.ts';

/** GET /verify-user: shows 'Verifying user profile' and hands the pending request to POST /storage. */
export function verifyUser(deps: OauthDeps): Handler {
  return async (req, res) => {
    const errand = errandOf(req, deps.publicUrl);
    const member = await deps.sessions.member(req);
    const id = errand.authorization;
    // The start page knows the short forms.
    if (id === undefined) return res.redirect(303, `/${errand.search}`);
    if (!member) return askToSignIn(req, res, deps.publicUrl);
    const request = await ownRequest(deps, req, id);
    const { step } = deps.wayOn(member.user, errand);
    // What else stands before, or asks for somebody else, comes first.
    const nothingElse = step.kind === 'authorization' && request.satisfiedBy(member.session);
    if (nothingElse && !deps.mayEnter(request.client, member.user)) {
      return res.redirect(303, notInPlanAddress(errand.search));
    }
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(VerifyUserPage, {
          ctx,
          action: `/storage${errand.search}`,
          fields: { authorization_code: id },
          clientName: request.clientName,
        }),
      { title: (ctx) => ctx.t('oauth.verify.title') },
    );
  };
}
