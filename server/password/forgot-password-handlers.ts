import { ForgotPasswordPage, type RequestPageProps } from '../../views/password/code-request-page.tsx';
import { prefilledEmail, type RequestContext, submitAction, toControls } from '../http/index.ts';
import type { PasswordDeps } from './deps.ts';
import { forgotPasswordAction, withParams } from './password-texts.ts';

type ForgotPasswordPageState = Pick<RequestPageProps, 'username' | 'error' | 'problem'> & { status?: number };

function renderForgotPage(r: RequestContext, view: ForgotPasswordPageState): void {
  const address = withParams('/forgot-password', r.continuation);
  const signInHref = withParams('/', r.continuation);
  r.renderForm(
    ForgotPasswordPage,
    { action: address, signInHref, controls: toControls(forgotPasswordAction.form), username: view.username },
    { title: 'password.title', address, view },
  );
}

/** GET /forgot-password: the page of the state `none`. */
export const showForgotPassword = (r: RequestContext) => renderForgotPage(r, { username: prefilledEmail(r) });

/** POST /forgot-password: mails a code, and continues to the page for it. */
export async function submitForgotPassword(r: RequestContext, deps: PasswordDeps) {
  const { flows, devices, uniformAnswers } = deps;
  const username = r.form(forgotPasswordAction.form).typed.username.trim();
  const requested = await submitAction(r, forgotPasswordAction, {
    deps,
    caller: { lang: r.lang, ip: r.ip, device: (user) => devices.recognise(r.req, user) },
  });
  if (requested.kind === 'refused-form') {
    const { status, errors, text } = requested;
    const problem = text === undefined ? undefined : { title: r.t('password.request.failed'), text };
    return renderForgotPage(r, { username, status, error: errors.username, problem });
  }
  flows.setCookie(r.res, requested.flow);
  // The notice of success would reveal that the user exists.
  const query = { username, ...(!uniformAnswers && { notice: 'confirmed' }) };
  r.redirect(withParams('/reset-password', r.continuation, query));
}
