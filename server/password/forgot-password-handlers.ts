import { pageForm } from '../../views/page-context.ts';
import { CodeSentPage, ForgotPasswordPage, type RequestPageProps } from '../../views/password/code-request-page.tsx';
import {
  AddressWithNotice,
  listOpenNames,
  prefilledEmail,
  type RequestContext,
  submitAction,
  toControls,
  toTyped,
  type WithKeptInput,
} from '../http/index.ts';
import { maxIdentifierLength } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';
import { forgotPasswordAction, resetNotices, withParams } from './password-texts.ts';

type ForgotPasswordPageState = Pick<RequestPageProps, 'username' | 'error' | 'unknown' | 'problem'> & {
  status?: number;
};

function renderForgotPage(r: RequestContext, view: ForgotPasswordPageState): void {
  const address = withParams('/forgot-password', r.continuation);
  const signInHref = withParams('/', r.continuation);
  const state = r.viewAt<ForgotPasswordPageState & WithKeptInput>(address, view);
  if (!state) return;
  const { keptInput, status, ...rest } = state;
  const { form } = forgotPasswordAction;
  r.render(
    ForgotPasswordPage,
    {
      action: address,
      signInHref,
      controls: toControls(form),
      ...rest,
      ...(keptInput && toTyped(form, keptInput)),
    },
    { title: 'password.title', address, status, keeps: { form: pageForm, names: listOpenNames(form) } },
  );
}

/** GET /forgot-password: the page of the state `none`; or the code was sent, and the page for it follows. */
export function showForgotPassword(r: RequestContext) {
  if (!r.takesNotice(resetNotices.sent)) return renderForgotPage(r, { username: prefilledEmail(r) });
  const username = (r.query('username') ?? '').trim().slice(0, maxIdentifierLength);
  const href = withParams('/reset-password', r.continuation, { username });
  r.render(
    CodeSentPage,
    { href },
    { title: 'password.title', address: withParams('/forgot-password', r.continuation) },
  );
}

/** POST /forgot-password: mails a code, and continues to the page for it. */
export async function submitForgotPassword(r: RequestContext, deps: PasswordDeps) {
  const { flows, devices, uniformAnswers } = deps;
  const username = r.form(forgotPasswordAction.form).typed.username.trim();
  const requested = await submitAction(r, forgotPasswordAction, {
    deps,
    caller: { lang: r.lang, ip: r.ip, device: (user) => devices.recognise(r.req, user) },
  });
  if (requested.kind === 'refused-form') {
    const { status, errors, text, refusal } = requested;
    const title = r.t('password.request.failed');
    // The name is the reason: it is said at the field.
    if (refusal === 'unknown-user')
      return renderForgotPage(r, { username, status, error: text, unknown: true, problem: { text: title } });
    const problem = text === undefined ? undefined : { title, text };
    return renderForgotPage(r, { username, status, error: errors.username, problem });
  }
  flows.setCookie(r.res, requested.flow);
  // The notice of success would reveal that the user exists.
  if (uniformAnswers) return r.redirect(withParams('/reset-password', r.continuation, { username }));
  // This page continues by itself only where scripts run.
  const path = r.field('noscript') === '' ? '/forgot-password' : '/reset-password';
  r.redirect(new AddressWithNotice(withParams(path, r.continuation, { username }), resetNotices.sent));
}
