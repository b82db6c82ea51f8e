import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import type { ActionProblem } from '../../views/settings/account-action.tsx';
import { EmailPage } from '../../views/settings/contact-pages.tsx';
import { methodNotAllowed, readFormField } from '../http/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { codePath, isChangeExpired, retryAfterFields, showCode, submitCode } from './contact-code-handlers.ts';
import type { AccountDeps } from './deps.ts';
import { type MemberHandler, requireRecentAuth } from './require-recent-auth.ts';

const path = '/settings/email';

interface EmailPageState {
  status?: number;
  value?: string | undefined;
  error?: string;
  problem?: ActionProblem;
}

function sendPage({ pages }: AccountDeps, req: Request, res: Response, state: EmailPageState = {}): void {
  const pageState = pages.shownAt(req, res, path, state);
  if (!pageState) return;
  const { status = 200, value = '', ...noticeName } = pageState;
  pages.send(req, res, status, (ctx) => createElement(EmailPage, { ctx, action: path, value, ...noticeName }), {
    title: (ctx) => ctx.t('contact.email.title'),
    address: path,
  });
}

/** GET /settings/email. */
function show(deps: AccountDeps): MemberHandler {
  return async (req, res, { user }) => {
    const typed = await deps.formDrafts.takeDraft(req, res, user.id);
    const { t } = req;
    sendPage(deps, req, res, {
      value: typed?.email,
      ...(isChangeExpired(req) && { problem: { text: t('contact.code.expired') } }),
    });
  };
}

/** POST /settings/email: sends a code to the new address. */
function submit(deps: AccountDeps): MemberHandler {
  return async (req, res, { user }) => {
    const { contact, log } = deps;
    const value = readFormField(req, 'email');
    const { t } = req;
    const requested = await contact.email.ask(user, value, getRequestOrigin(req));
    const outcome = toPublicOutcome(requested.kind === 'asked' ? requested.kind : requested.refusal.kind);
    log.info({ act: 'change-email', outcome }, 'email address change');
    if (requested.kind === 'asked') {
      contact.flows.setChangeCookie(res, 'email', requested.flow);
      return res.redirect(303, codePath('email'));
    }
    const { refusal } = requested;
    // The specification's error bar disappears by itself; the text at the field stays.
    const bar = { text: t('settings.TAB_USER_DATA_MESSAGE_EROR'), passing: true };
    switch (refusal.kind) {
      case 'malformed':
        return sendPage(deps, req, res, { status: 400, value, error: t('signUp.errors.email'), problem: bar });
      case 'same':
        return sendPage(deps, req, res, { status: 400, value, error: t('contact.email.same'), problem: bar });
      default: {
        const { status, text } = retryAfterFields(res, t, refusal);
        return sendPage(deps, req, res, { status, value, problem: { title: t('contact.code.failed'), text } });
      }
    }
  };
}

/** Edit Email, and the code that proves the new address. */
export function emailRoutes(router: Router, deps: AccountDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(path)
    .get(requireRecentAuth(deps, show(deps)))
    .post(requireRecentAuth(deps, submit(deps), { email: 254 }))
    .all(only);
  router
    .route(codePath('email'))
    .get(requireRecentAuth(deps, showCode(deps, 'email')))
    .post(requireRecentAuth(deps, submitCode(deps, 'email')))
    .all(only);
}
