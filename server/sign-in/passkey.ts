import type { RequestHandler } from 'express';
import { errandOf, field } from '../http/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { SignInDeps } from './deps.ts';
import { sendSignInPage } from './landing.ts';
import { signInByPasskey } from './passkey-sign-in.ts';
import { passkeyError } from './passkey-texts.ts';

/** POST /sign-in/passkey: checks the browser's answer, begins a session as both factors do, goes on to the next step. */
export function submitPasskey(deps: SignInDeps, passkeys: Passkeys): RequestHandler {
  return async (req, res) => {
    const errand = errandOf(req, deps.publicUrl);
    const remember = field(req, 'remember') === '1';
    const outcome = await signInByPasskey({ ...deps, passkeys }, field(req, 'credential'), req.ip ?? '');
    const result = outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind;
    deps.log.info({ act: 'sign-in', method: 'passkey', outcome: result }, 'sign-in');
    deps.metrics.signIn('passkey', result);
    if (outcome.kind === 'refused') {
      if (outcome.refusal.kind === 'too-many') deps.metrics.guessRefused(outcome.refusal.limit);
      const { status, text } = passkeyError(res, req.t, outcome.refusal);
      const { authorization } = errand;
      const pending = authorization === undefined ? undefined : await deps.pendingRequest(req, authorization);
      const form = { values: { username: '', remember }, errors: { form: text }, status };
      return sendSignInPage(deps, req, res, { errand, clientName: pending?.clientName }, form);
    }
    const { user } = outcome;
    if (outcome.kind === 'not-confirmed') {
      const whom = { kind: 'user', id: user.id, remember, errand } as const;
      return res.redirect(303, await deps.confirmations.begin(req, res, whom));
    }
    await deps.sessions.begin(req, res, user, { amr: outcome.amr, remember });
    await deps.devices.remember(req, res, user);
    res.redirect(303, deps.wayOn(user, errand).address);
  };
}
