import { type RequestContext, refusalView } from '../http/index.ts';
import type { PasskeyDeps } from '../passkeys/index.ts';
import { findPending, type SignInDeps } from './deps.ts';
import { reportRefusedPasskey, signInByPasskey } from './passkey-sign-in.ts';
import { renderSignInPage } from './sign-in-handlers.ts';
import { passkeyRefusals } from './sign-in-texts.ts';

/**
 * POST /sign-in/passkey: checks the browser's answer, starts a session with both factors, and continues to the next
 * step.
 */
export const submitPasskey = (passkeys: PasskeyDeps) => async (r: RequestContext, deps: SignInDeps) => {
  const { continuation } = r;
  const remember = r.field('remember') === '1';
  const outcome = await signInByPasskey({ ...deps, passkeys }, r.field('credential'), r.ip);
  const result = outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind;
  r.log.info({ act: 'sign-in', method: 'passkey', outcome: result }, 'sign-in');
  deps.metrics.signIn('passkey', result);
  if (outcome.kind === 'refused') {
    await reportRefusedPasskey(r, deps, outcome);
    if (outcome.refusal.kind === 'too-many') deps.metrics.guessRefused(outcome.refusal.limit);
    const { status, text } = refusalView(r, passkeyRefusals, outcome.refusal);
    const clientName = (await findPending(r, deps))?.clientName;
    const form = { values: { username: '', remember }, errors: { form: text }, status };
    return renderSignInPage(r, deps, { continuation, clientName, ...form });
  }
  const { user } = outcome;
  if (outcome.kind === 'not-confirmed') {
    const recipient = { kind: 'user', id: user.id, remember, continuation } as const;
    return r.redirect(await deps.confirmations.startEmailVerification(r, recipient));
  }
  await deps.sessions.createSession(r, user, { amr: outcome.amr, remember });
  r.redirect(deps.nextRedirect(user, continuation).address);
};
