import type { RequestHandler } from 'express';
import { field } from '../http/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { SignInDeps } from './deps.ts';
import { signInByPasskey } from './passkey-sign-in.ts';
import { passkeyError } from './passkey-texts.ts';
import { askInstead, errandAgain, sendReAuthenticatePage } from './re-authenticate.ts';

/** POST /re-authenticate/passkey: the member who is signed in shows again who they are, by a passkey of their own. */
export function confirmByPasskey(deps: SignInDeps, passkeys: Passkeys): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.member(req);
    if (!member) return askInstead(deps, req, res);
    const { user, session } = member;
    const errand = errandAgain(req, deps.publicUrl);
    const { t } = req;
    const outcome = await signInByPasskey({ ...deps, passkeys }, field(req, 'credential'), req.ip ?? '');
    const mine = outcome.kind === 'signed-in' && outcome.user.id === user.id;
    const result = outcome.kind === 'refused' ? outcome.refusal.kind : mine ? 'right' : 'other-member';
    deps.log.info({ act: 're-authenticate', method: 'passkey', outcome: result }, 're-authentication');
    if (outcome.kind === 'refused') {
      if (outcome.refusal.kind === 'too-many') deps.metrics.guessRefused(outcome.refusal.limit);
      const { status, text } = passkeyError(res, t, outcome.refusal);
      return sendReAuthenticatePage(deps, req, res, { user, errand }, { status, problem: text });
    }
    if (!mine) {
      const problem = t('passkeys.signIn.errors.otherMember');
      return sendReAuthenticatePage(deps, req, res, { user, errand }, { status: 400, problem });
    }
    await deps.sessions.begin(req, res, outcome.user, { amr: outcome.amr, remember: session.remember });
    await deps.devices.remember(req, res, outcome.user);
    res.redirect(303, deps.wayOn(outcome.user, errand).address);
  };
}
