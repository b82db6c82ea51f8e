import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { EmailPage } from '../../views/settings/contact-pages.tsx';
import type { ActProblem } from '../../views/settings/settings-act.tsx';
import { field, methodNotAllowed } from '../http/index.ts';
import { originOf } from '../session/index.ts';
import { codePath, isGone, showCode, submitCode, waitShown } from './contact-code.ts';
import type { SettingsDeps } from './deps.ts';
import { type MemberHandler, recently } from './guard.ts';

const path = '/settings/email';

interface Shown {
  status?: number;
  value?: string | undefined;
  error?: string;
  problem?: ActProblem;
}

function sendPage({ pages }: SettingsDeps, req: Request, res: Response, given: Shown = {}): void {
  const shown = pages.shownAt(req, res, path, given);
  if (!shown) return;
  const { status = 200, value = '', ...said } = shown;
  pages.send(req, res, status, (ctx) => createElement(EmailPage, { ctx, action: path, value, ...said }), {
    title: (ctx) => ctx.t('contact.email.title'),
    address: path,
  });
}

/** GET /settings/email. */
function show(deps: SettingsDeps): MemberHandler {
  return async (req, res, { user }) => {
    const typed = await deps.stash.take(req, res, user.id);
    const { t } = req;
    sendPage(deps, req, res, {
      value: typed?.email,
      ...(isGone(req) && { problem: { text: t('contact.code.gone') } }),
    });
  };
}

/** POST /settings/email: a code goes to the new address. */
function submit(deps: SettingsDeps): MemberHandler {
  return async (req, res, { user }) => {
    const { contact, log } = deps;
    const value = field(req, 'email');
    const { t } = req;
    const asked = await contact.email.ask(user, value, originOf(req));
    log.info({ act: 'change-email', outcome: asked.kind === 'asked' ? 'asked' : asked.refusal.kind }, 'new address');
    if (asked.kind === 'asked') {
      contact.flows.giveTo(res, 'email', asked.flow);
      return res.redirect(303, codePath('email'));
    }
    const { refusal } = asked;
    // The specification's error bar goes by itself; the field's own words stay.
    const bar = { text: t('settings.TAB_USER_DATA_MESSAGE_EROR'), passing: true };
    switch (refusal.kind) {
      case 'malformed':
        return sendPage(deps, req, res, { status: 400, value, error: t('signUp.errors.email'), problem: bar });
      case 'same':
        return sendPage(deps, req, res, { status: 400, value, error: t('contact.email.same'), problem: bar });
      default: {
        const { status, text } = waitShown(res, t, refusal);
        return sendPage(deps, req, res, { status, value, problem: { title: t('contact.code.failed'), text } });
      }
    }
  };
}

/** Edit Email, and the code that shows that the new address is the member's. */
export function emailRoutes(router: Router, deps: SettingsDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(path)
    .get(recently(deps, show(deps)))
    .post(recently(deps, submit(deps), { email: 254 }))
    .all(only);
  router
    .route(codePath('email'))
    .get(recently(deps, showCode(deps, 'email')))
    .post(recently(deps, submitCode(deps, 'email')))
    .all(only);
}
