import type { RequestPageProps } from '../../views/password/code-request-page.tsx';
import { ForgotPasswordPage } from '../../views/password/forgot-password-page.tsx';
import type { RequestContext, T } from '../http/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { PasswordDeps } from './deps.ts';
import { retryAfterText, withParams } from './password-texts.ts';
import { type RequestResetRefusal, requestReset } from './request-reset.ts';

type ForgotPasswordPageState = Pick<RequestPageProps, 'username' | 'error' | 'problem'> & { status?: number };

function renderForgotPage(r: RequestContext, view: ForgotPasswordPageState): void {
  const address = withParams('/forgot-password', r.continuation);
  const state = r.viewAt(address, view);
  if (!state) return;
  const { status, ...props } = state;
  const signInHref = withParams('/', r.continuation);
  r.render(ForgotPasswordPage, { action: address, signInHref, ...props }, { title: 'password.title', address, status });
}

/** The text for each refusal, and its place (the specification's sections 5 and 8). */
function refusalTexts(t: T, refusal: RequestResetRefusal): Omit<ForgotPasswordPageState, 'username'> {
  const failed = (text: string, status: number) => ({
    status,
    problem: { title: t('password.request.failed'), text },
  });
  switch (refusal.kind) {
    case 'empty':
      return { status: 400, error: t('password.request.empty') };
    case 'malformed':
      return failed(t('signIn.errors.validation'), 400);
    case 'unknown-user':
      return failed(t('password.request.unknown'), 400);
    case 'disabled':
      return failed(t('signIn.errors.disabled'), 403);
    case 'too-soon':
    case 'daily-limit':
    case 'too-many':
      return failed(retryAfterText(t, refusal.kind, refusal.retryAfterMs), 429);
  }
}

/** GET /forgot-password. */
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
    const { refusal } = requested;
    if ('retryAfterMs' in refusal) r.setRetryAfter(refusal.retryAfterMs);
    return renderForgotPage(r, { username, ...refusalTexts(r.t, refusal) });
  }
  flows.setCookie(r.res, requested.flow);
  // The notice of success would reveal that the user exists.
  const query = { username, ...(!uniformAnswers && { notice: 'confirmed' }) };
  r.redirect(withParams('/reset-password', r.continuation, query));
}
