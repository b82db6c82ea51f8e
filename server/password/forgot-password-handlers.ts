import { ForgotPasswordPage, type RequestPageProps } from '../../views/password/code-request-page.tsx';
import { type RequestContext, refusalView } from '../http/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { PasswordDeps } from './deps.ts';
import type { ResetRefusal } from './password-reset-state.ts';
import { resetRefusals, withParams } from './password-texts.ts';
import { requestReset } from './request-reset.ts';

type ForgotPasswordPageState = Pick<RequestPageProps, 'username' | 'error' | 'problem'> & { status?: number };

function renderForgotPage(r: RequestContext, view: ForgotPasswordPageState): void {
  const address = withParams('/forgot-password', r.continuation);
  const signInHref = withParams('/', r.continuation);
  r.renderForm(
    ForgotPasswordPage,
    { action: address, signInHref, username: view.username },
    { title: 'password.title', address, view },
  );
}

/** The answer to a refusal, and the place of its text. */
function toRefusedState(r: RequestContext, refusal: ResetRefusal): Omit<ForgotPasswordPageState, 'username'> {
  const { status, text, field } = refusalView(r, resetRefusals, refusal);
  return { status, ...(field ? { error: text } : { problem: { title: r.t('password.request.failed'), text } }) };
}

/** GET /forgot-password: the page of the state `none`. */
export const showForgotPassword = (r: RequestContext) => renderForgotPage(r, { username: '' });

/** POST /forgot-password: mails a code, and continues to the page for it. */
export async function submitForgotPassword(r: RequestContext, deps: PasswordDeps) {
  const { flows, devices, uniformAnswers } = deps;
  const username = r.field('username').trim();
  const requested = await requestReset(
    deps,
    { username, lang: r.lang },
    { ip: r.ip, device: (user) => devices.recognise(r.req, user) },
  );
  const outcome = toPublicOutcome(requested.kind === 'refused' ? requested.refusal.kind : requested.kind);
  r.log.info({ act: 'forgot-password', outcome }, 'forgot password');
  if (requested.kind === 'refused') {
    return renderForgotPage(r, { username, ...toRefusedState(r, requested.refusal) });
  }
  flows.setCookie(r.res, requested.flow);
  // The notice of success would reveal that the user exists.
  const query = { username, ...(!uniformAnswers && { notice: 'confirmed' }) };
  r.redirect(withParams('/reset-password', r.continuation, query));
}
