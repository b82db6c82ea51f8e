import { createElement } from 'react';
import { VerifyUserPage } from '../../views/oauth/verify-user-page.tsx';
import { errandOf, HttpError } from '../http/index.ts';
import { askToSignIn } from '../sign-in/index.ts';
import type { Handler, OauthDeps } from './deps.ts';
import { ownRequest } from './storage.ts';

/** GET /verify-user: shows 'Verifying user profile' and hands the pending request to POST /storage. */
export function verifyUser(deps: OauthDeps): Handler {
  return async (req, res) => {
    const errand = errandOf(req, deps.publicUrl);
    const member = await deps.sessions.member(req);
    if (!member) return askToSignIn(req, res, deps.publicUrl);
    const id = errand.authorization;
    if (id === undefined) throw new HttpError('requestExpired', { detail: 'no authorization_code in the query' });
    const request = await ownRequest(deps, req, id);
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
