import type { RequestHandler } from 'express';
import { continuationFrom, readFormField, setRetryAfter, type T } from '../http/index.ts';
import { hashForPage, retryAfterText } from '../password/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { SignInResult } from './complete-sign-in.ts';
import type { SignInDeps } from './deps.ts';
import { findHomeRealm, redirectsToProvider } from './home-realm.ts';
import { askForMailedCode } from './mailed-code-page.ts';
import { type PasswordRefusal, type PasswordSignInResult, signInByPassword } from './password-sign-in.ts';
import { findNamedClient, renderSignInPage, type SignInPageState } from './sign-in-handlers.ts';

/** The text for each refusal, and its place (the specification's sections 5 and 8). */
function toFormErrors(t: T, refusal: PasswordRefusal): Pick<SignInPageState, 'errors' | 'status'> {
  switch (refusal.kind) {
    case 'empty':
      return {
        status: 400,
        errors: {
          ...(refusal.username && { username: t('signIn.errors.usernameEmpty') }),
          ...(refusal.password && { password: t('signIn.errors.passwordEmpty') }),
        },
      };
    case 'malformed':
      return { status: 400, errors: { form: t('signIn.errors.validation') } };
    case 'too-many':
      return { status: 429, errors: { form: retryAfterText(t, 'too-many', refusal.retryAfterMs) } };
    case 'unknown-user':
      return { status: 400, errors: { form: t('signIn.errors.userDoesNotExist') } };
    case 'wrong-password':
      return { status: 400, errors: { form: t('signIn.errors.incorrect') } };
    case 'disabled':
      return { status: 403, errors: { form: t('signIn.errors.disabled') } };
  }
}

/**
 * POST /sign-in: checks the password and continues to the next step: the second factor, or a session. An address of a
 * provider's domain leads to the provider, unless its password is right.
 */
export function submitPassword(deps: SignInDeps): RequestHandler {
  const logOutcome = (
    result: PasswordRefusal['kind'] | PasswordSignInResult['kind'] | SignInResult['kind'] | 'busy',
  ) => {
    const outcome = toPublicOutcome(result);
    deps.log.info({ act: 'sign-in', outcome }, 'sign-in');
    deps.metrics.signIn('password', outcome);
  };
  return async (req, res) => {
    const continuation = continuationFrom(req, deps.publicUrl);
    const username = readFormField(req, 'username');
    const values = { username, remember: readFormField(req, 'remember') === '1' };
    const { t } = req;
    const waiting =
      continuation.authorization === undefined
        ? undefined
        : await deps.findPendingAuthorization(req, continuation.authorization);
    const rerender = async (form: Pick<SignInPageState, 'errors' | 'status'>) => {
      const clientName = (waiting ?? (await findNamedClient(deps, continuation)))?.clientName;
      renderSignInPage(deps, req, res, { continuation: continuation, clientName }, { values, ...form });
    };

    const outcome = await hashForPage(res, deps, () =>
      signInByPassword(
        { ...deps, findUnverifiedAccount: deps.confirmations.findUnverifiedAccount },
        { username, password: readFormField(req, 'password') },
        { ip: req.ip ?? '', device: (user) => deps.devices.recognise(req, user) },
      ),
    );
    if (outcome.kind === 'busy') {
      logOutcome('busy');
      return rerender({ status: outcome.status, errors: { form: t('signIn.errors.busy') } });
    }
    if (outcome.kind !== 'signed-in') logOutcome(outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind);
    if (outcome.kind === 'code-due') {
      const { remember } = values;
      const home = findHomeRealm(deps, username, req.get('user-agent'));
      if (home)
        return deps.federation.signIn(req, res, home.provider, { continuation, remember, loginHint: home.email });
      return askForMailedCode(deps, req, res, { user: outcome.user, remember, continuation: continuation });
    }
    const awaiting = outcome.kind === 'first-password' ? outcome.user : undefined;
    const isWrong = outcome.kind === 'refused' && outcome.refusal.kind === 'wrong-password';
    if (deps.uniformAnswers && (awaiting || isWrong)) {
      deps.firstPassword.hintAtFirstReset(req, res, { username, awaiting });
    }
    if (outcome.kind === 'refused' || outcome.kind === 'first-password') {
      const refusal: PasswordRefusal = outcome.kind === 'refused' ? outcome.refusal : { kind: 'wrong-password' };
      if (refusal.kind === 'too-many') deps.metrics.guessRefused(refusal.limit);
      const home = redirectsToProvider(refusal) ? findHomeRealm(deps, username, req.get('user-agent')) : undefined;
      if (home) {
        const { remember } = values;
        return deps.federation.signIn(req, res, home.provider, { continuation, remember, loginHint: home.email });
      }
      if (outcome.kind === 'first-password' && !deps.uniformAnswers) {
        const first = await deps.firstPassword.beginFirstReset(req, res, {
          user: outcome.user,
          username,
          continuation: continuation,
        });
        if (first.kind === 'begun') return res.redirect(303, first.address);
        return rerender({ status: 429, errors: { form: first.text } });
      }
      if (refusal.kind === 'too-many') setRetryAfter(res, refusal.retryAfterMs);
      return rerender(toFormErrors(t, refusal));
    }
    if (outcome.kind === 'not-confirmed') {
      const address = await deps.confirmations.startEmailVerification(req, res, {
        ...outcome.account,
        remember: values.remember,
        continuation: continuation,
      });
      return res.redirect(303, address);
    }
    const { user } = outcome;
    const entered = await deps.signIn.completeSignIn(req, res, user, {
      amr: ['pwd'],
      remember: values.remember,
      continuation,
      requireAllFactors: waiting?.requiresAllFactors,
    });
    logOutcome(entered.kind);
    res.redirect(303, entered.kind === 'signed-in' ? deps.nextRedirect(user, continuation).address : entered.address);
  };
}
