import { refusalView } from '../http/index.ts';
import type { PasskeyDeps } from '../passkeys/index.ts';
import type { SignInDeps } from './deps.ts';
import { reportRefusedPasskey, signInByPasskey } from './passkey-sign-in.ts';
import { renderReauthenticatePage, requireReauthentication } from './reauthenticate-handlers.ts';
import { passkeyRefusals } from './sign-in-texts.ts';

/** POST /re-authenticate/passkey: the signed-in user re-authenticates with one of their own passkeys. */
export const reauthenticateByPasskey = (passkeys: PasskeyDeps) =>
  requireReauthentication(async (r, deps: SignInDeps) => {
    const outcome = await signInByPasskey({ ...deps, passkeys }, r.field('credential'), r.ip);
    const isSameUser = outcome.kind === 'signed-in' && outcome.user.id === r.user.id;
    const result = outcome.kind === 'refused' ? outcome.refusal.kind : isSameUser ? 'right' : 'other-member';
    r.log.info({ act: 're-authenticate', method: 'passkey', outcome: result }, 're-authentication');
    if (outcome.kind === 'refused') {
      await reportRefusedPasskey(r, deps, outcome);
      if (outcome.refusal.kind === 'too-many') deps.metrics.guessRefused(outcome.refusal.limit);
      const { status, text } = refusalView(r, passkeyRefusals, outcome.refusal);
      return renderReauthenticatePage(r, deps, { status, problem: text });
    }
    if (!isSameUser) {
      return renderReauthenticatePage(r, deps, { status: 400, problem: r.t('passkeys.signIn.errors.otherMember') });
    }
    await deps.sessions.createSession(r, outcome.user, { amr: outcome.amr, remember: r.session.remember });
    r.redirect(deps.nextRedirect(outcome.user, r.target).address);
  });
