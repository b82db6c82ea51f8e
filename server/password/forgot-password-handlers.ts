import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import type { RequestPageProps } from '../../views/password/code-request-page.tsx';
import { ForgotPasswordPage } from '../../views/password/forgot-password-page.tsx';
import { type Continuation, continuationFrom, readFormField, setRetryAfter, type T } from '../http/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { PasswordDeps } from './deps.ts';
import { retryAfterText, withParams } from './password-texts.ts';
import { type RequestResetRefusal, requestReset } from './request-reset.ts';

type ForgotPasswordPageState = Pick<RequestPageProps, 'username' | 'error' | 'problem'> & { status?: number };

function sendForgotPage(
  { pages }: PasswordDeps,
  req: Request,
  res: Response,
  continuation: Continuation,
  state: ForgotPasswordPageState,
): void {
  const address = withParams('/forgot-password', continuation);
  const submitted = pages.shownAt(req, res, address, state);
  if (!submitted) return;
  const { status = 200, ...view } = submitted;
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ForgotPasswordPage, { ctx, action: address, signInHref: withParams('/', continuation), ...view }),
    { title: (ctx) => ctx.t('password.title'), address },
  );
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
export function showForgotPassword(deps: PasswordDeps): RequestHandler {
  return (req, res) => sendForgotPage(deps, req, res, continuationFrom(req, deps.publicUrl), { username: '' });
}

/** POST /forgot-password: mails a code, and continues to the page for it. */
export function submitForgotPassword(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const { flows, devices, publicUrl, uniformAnswers } = deps;
    const continuation = continuationFrom(req, publicUrl);
    const username = readFormField(req, 'username').trim();
    const { t, language: lang } = req;
    const requested = await requestReset(
      deps,
      { username, lang },
      { ip: req.ip ?? '', device: (user) => devices.recognise(req, user) },
    );
    const outcome = toPublicOutcome(requested.kind === 'refused' ? requested.refusal.kind : requested.kind);
    deps.log.info({ act: 'forgot-password', outcome }, 'forgot password');
    if (requested.kind === 'refused') {
      const { refusal } = requested;
      if ('retryAfterMs' in refusal) setRetryAfter(res, refusal.retryAfterMs);
      return sendForgotPage(deps, req, res, continuation, { username, ...refusalTexts(t, refusal) });
    }
    flows.setCookie(res, requested.flow);
    // The notice of success would reveal that the user exists.
    const changes = uniformAnswers ? undefined : 'confirmed';
    res.redirect(303, withParams('/reset-password', continuation, { username, ...(changes && { notice: changes }) }));
  };
}
