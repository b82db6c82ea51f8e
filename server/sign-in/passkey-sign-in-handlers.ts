import type { RequestHandler } from 'express';
import { continuationFrom, readFormField } from '../http/index.ts';
import type { Passkeys } from '../passkeys/index.ts';
import type { SignInDeps } from './deps.ts';
import { signInByPasskey } from './passkey-sign-in.ts';
import { passkeyErrorText } from './passkey-texts.ts';
import { renderSignInPage } from './sign-in-handlers.ts';

/**
 * POST /sign-in/passkey: checks the browser's answer, starts a session with both factors, and continues to the next
 * step.
 */
export function submitPasskey(deps: SignInDeps, passkeys: Passkeys): RequestHandler {
  return async (req, res) => {
    const continuation = continuationFrom(req, deps.publicUrl);
    const remember = readFormField(req, 'remember') === '1';
    const outcome = await signInByPasskey({ ...deps, passkeys }, readFormField(req, 'credential'), req.ip ?? '');
    const result = outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind;
    deps.log.info({ act: 'sign-in', method: 'passkey', outcome: result }, 'sign-in');
    deps.metrics.signIn('passkey', result);
    if (outcome.kind === 'refused') {
      if (outcome.refusal.kind === 'too-many') deps.metrics.guessRefused(outcome.refusal.limit);
      const { status, text } = passkeyErrorText(res, req.t, outcome.refusal);
      const { authorization } = continuation;
      const pending = authorization === undefined ? undefined : await deps.findPendingAuthorization(req, authorization);
      const form = { values: { username: '', remember }, errors: { form: text }, status };
      return renderSignInPage(deps, req, res, { continuation, clientName: pending?.clientName }, form);
    }
    const { user } = outcome;
    if (outcome.kind === 'not-confirmed') {
      const recipient = { kind: 'user', id: user.id, remember, continuation } as const;
      return res.redirect(303, await deps.confirmations.startEmailVerification(req, res, recipient));
    }
    await deps.sessions.createSession(req, res, user, { amr: outcome.amr, remember });
    await deps.devices.remember(req, res, user);
    res.redirect(303, deps.nextRedirect(user, continuation).address);
  };
}
