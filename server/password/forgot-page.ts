import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { ForgotPasswordPage } from '../../views/password/forgot-password-page.tsx';
import type { RequestPageProps } from '../../views/password/request-page.tsx';
import { type Errand, errandOf, field, setRetryAfter, type T } from '../http/index.ts';
import type { PasswordDeps } from './deps.ts';
import { type AskRefusal, askForCode } from './forgot.ts';
import { addressWith, waitText } from './page-support.ts';

type Shown = Pick<RequestPageProps, 'username' | 'error' | 'problem'> & { status?: number };

function sendForgotPage({ pages }: PasswordDeps, req: Request, res: Response, errand: Errand, given: Shown): void {
  const address = addressWith('/forgot-password', errand);
  const said = pages.shownAt(req, res, address, given);
  if (!said) return;
  const { status = 200, ...shown } = said;
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ForgotPasswordPage, { ctx, action: address, signInHref: addressWith('/', errand), ...shown }),
    { title: (ctx) => ctx.t('password.title'), address },
  );
}

/** Which text stands where for each refusal (the specification's sections 5 and 8). */
function refusalTexts(t: T, refusal: AskRefusal): Omit<Shown, 'username'> {
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
    case 'wait':
    case 'daily-cap':
    case 'too-many':
      return failed(waitText(t, refusal.kind, refusal.retryAfterMs), 429);
  }
}

/** GET /forgot-password. */
export function showForgot(deps: PasswordDeps): RequestHandler {
  return (req, res) => sendForgotPage(deps, req, res, errandOf(req, deps.publicUrl), { username: '' });
}

/** POST /forgot-password: mails a code, and goes on to where it is typed in. */
export function askAtForgot(deps: PasswordDeps): RequestHandler {
  return async (req, res) => {
    const { flows, devices, publicUrl, uniformAnswers } = deps;
    const errand = errandOf(req, publicUrl);
    const username = field(req, 'username').trim();
    const { t, language: lang } = req;
    const asked = await askForCode(
      deps,
      { username, lang },
      { ip: req.ip ?? '', device: (user) => devices.recognise(req, user) },
    );
    const outcome = asked.kind === 'refused' ? asked.refusal.kind : asked.kind;
    deps.log.info({ act: 'forgot-password', outcome }, 'forgot password');
    if (asked.kind === 'refused') {
      const { refusal } = asked;
      if ('retryAfterMs' in refusal) setRetryAfter(res, refusal.retryAfterMs);
      return sendForgotPage(deps, req, res, errand, { username, ...refusalTexts(t, refusal) });
    }
    flows.setCookie(res, asked.flow);
    // The good news tells that there is such a member.
    const news = uniformAnswers ? undefined : 'confirmed';
    res.redirect(303, addressWith('/reset-password', errand, { username, ...(news && { notice: news }) }));
  };
}
