import type { RequestHandler } from 'express';
import { readFormField } from '../http/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { SignInDeps } from './deps.ts';
import { signInByPasskey } from './passkey-sign-in.ts';
import { passkeyErrorText } from './passkey-texts.ts';
import { reauthContinuation, redirectToSignInInstead, renderReauthenticatePage } from './reauthenticate-handlers.ts';

/** POST /re-authenticate/passkey: the signed-in user re-authenticates with one of their own passkeys. */
export function reauthenticateByPasskey(deps: SignInDeps, passkeys: Passkeys): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.getCurrentUser(req);
    if (!member) return redirectToSignInInstead(deps, req, res);
    const { user, session } = member;
    const continuation = reauthContinuation(req, deps.publicUrl);
    const { t } = req;
    const outcome = await signInByPasskey({ ...deps, passkeys }, readFormField(req, 'credential'), req.ip ?? '');
    const isSameUser = outcome.kind === 'signed-in' && outcome.user.id === user.id;
    const result = outcome.kind === 'refused' ? outcome.refusal.kind : isSameUser ? 'right' : 'other-member';
    deps.log.info({ act: 're-authenticate', method: 'passkey', outcome: result }, 're-authentication');
    if (outcome.kind === 'refused') {
      if (outcome.refusal.kind === 'too-many') deps.metrics.guessRefused(outcome.refusal.limit);
      const { status, text } = passkeyErrorText(res, t, outcome.refusal);
      return renderReauthenticatePage(deps, req, res, { user, continuation }, { status, problem: text });
    }
    if (!isSameUser) {
      const problem = t('passkeys.signIn.errors.otherMember');
      return renderReauthenticatePage(deps, req, res, { user, continuation }, { status: 400, problem });
    }
    await deps.sessions.createSession(req, res, outcome.user, { amr: outcome.amr, remember: session.remember });
    await deps.devices.remember(req, res, outcome.user);
    res.redirect(303, deps.nextRedirect(outcome.user, continuation).address);
  };
}
