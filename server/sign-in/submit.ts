import type { RequestHandler } from 'express';
import { errandOf, field, setRetryAfter, type T } from '../http/index.ts';
import { unlessBusy, waitText } from '../password/index.ts';
import type { SignInDeps } from './deps.ts';
import type { Entered } from './entrance.ts';
import { homeRealmOf, leadsHome } from './home-realm.ts';
import { namedClient, type SignInForm, sendSignInPage } from './landing.ts';
import { askForMailedCode } from './mailed-code-page.ts';
import { type Outcome, type Refusal, signInByPassword } from './password-sign-in.ts';

/** Which text stands where for each refusal (the specification's sections 5 and 8). */
function formErrors(t: T, refusal: Refusal): Pick<SignInForm, 'errors' | 'status'> {
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
      return { status: 429, errors: { form: waitText(t, 'too-many', refusal.retryAfterMs) } };
    case 'unknown-user':
      return { status: 400, errors: { form: t('signIn.errors.userDoesNotExist') } };
    case 'wrong-password':
      return { status: 400, errors: { form: t('signIn.errors.incorrect') } };
    case 'disabled':
      return { status: 403, errors: { form: t('signIn.errors.disabled') } };
  }
}

/**
 * POST /sign-in: checks the password and goes on to the next step: the second factor, or with a session. An address of a
 * provider's domain leads to the provider, unless its password is right.
 */
export function submit(deps: SignInDeps): RequestHandler {
  const report = (outcome: Refusal['kind'] | Outcome['kind'] | Entered['kind'] | 'busy') => {
    deps.log.info({ act: 'sign-in', outcome }, 'sign-in');
    deps.metrics.signIn('password', outcome);
  };
  return async (req, res) => {
    const errand = errandOf(req, deps.publicUrl);
    const username = field(req, 'username');
    const values = { username, remember: field(req, 'remember') === '1' };
    const { t } = req;
    const waiting =
      errand.authorization === undefined ? undefined : await deps.pendingRequest(req, errand.authorization);
    const again = async (form: Pick<SignInForm, 'errors' | 'status'>) => {
      const clientName = (waiting ?? (await namedClient(deps, errand)))?.clientName;
      sendSignInPage(deps, req, res, { errand, clientName }, { values, ...form });
    };

    const outcome = await unlessBusy(res, deps, () =>
      signInByPassword(
        { ...deps, begunWith: deps.confirmations.begunWith },
        { username, password: field(req, 'password') },
        { ip: req.ip ?? '', device: (user) => deps.devices.recognise(req, user) },
      ),
    );
    if (outcome.kind === 'busy') {
      report('busy');
      return again({ status: outcome.status, errors: { form: t('signIn.errors.busy') } });
    }
    if (outcome.kind !== 'signed-in') report(outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind);
    if (outcome.kind === 'code-due') {
      const { remember } = values;
      const home = homeRealmOf(deps, username, req.get('user-agent'));
      if (home) return deps.federation.signIn(req, res, home.provider, { errand, remember, loginHint: home.email });
      return askForMailedCode(deps, req, res, { user: outcome.user, remember, errand });
    }
    const awaiting = outcome.kind === 'first-password' ? outcome.user : undefined;
    const isWrong = outcome.kind === 'refused' && outcome.refusal.kind === 'wrong-password';
    if (deps.uniformAnswers && (awaiting || isWrong)) {
      deps.firstPassword.hintAtFirstReset(req, res, { username, awaiting });
    }
    if (outcome.kind === 'refused' || outcome.kind === 'first-password') {
      const refusal: Refusal = outcome.kind === 'refused' ? outcome.refusal : { kind: 'wrong-password' };
      if (refusal.kind === 'too-many') deps.metrics.guessRefused(refusal.limit);
      const home = leadsHome(refusal) ? homeRealmOf(deps, username, req.get('user-agent')) : undefined;
      if (home) {
        const { remember } = values;
        return deps.federation.signIn(req, res, home.provider, { errand, remember, loginHint: home.email });
      }
      if (outcome.kind === 'first-password' && !deps.uniformAnswers) {
        const first = await deps.firstPassword.beginFirstReset(req, res, { user: outcome.user, username, errand });
        if (first.kind === 'begun') return res.redirect(303, first.address);
        return again({ status: 429, errors: { form: first.text } });
      }
      if (refusal.kind === 'too-many') setRetryAfter(res, refusal.retryAfterMs);
      return again(formErrors(t, refusal));
    }
    if (outcome.kind === 'not-confirmed') {
      const address = await deps.confirmations.begin(req, res, { ...outcome.whom, remember: values.remember, errand });
      return res.redirect(303, address);
    }
    const { user } = outcome;
    const entered = await deps.entrance.enter(req, res, user, {
      ...{ amr: ['pwd'], remember: values.remember, errand },
      everyFactor: waiting?.wantsEveryFactor,
    });
    report(entered.kind);
    res.redirect(303, entered.kind === 'signed-in' ? deps.wayOn(user, errand).address : entered.address);
  };
}
