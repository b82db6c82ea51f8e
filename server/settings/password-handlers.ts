import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { passwordStrength } from '../../views/parts/password-strength.ts';
import { PasswordPage, type PasswordPageProps } from '../../views/settings/password-page.tsx';
import { methodNotAllowed, readFormField, readQueryParam, setRetryAfter, type T } from '../http/index.ts';
import {
  type ChangePasswordRefusal,
  hashForPage,
  passwordErrorText,
  retryAfterText,
  rotateSessionAfterPasswordChange,
} from '../password/index.ts';
import type { AccountDeps } from './deps.ts';
import { accountHomeUrl } from './notices.ts';
import { type MemberHandler, requireRecentAuth, requireUser, type SignedInUser } from './require-recent-auth.ts';

const path = '/settings/password';
const names = { oldPassword: 'old_password', newPassword: 'new_password' } as const;

type PasswordPageState = Partial<Pick<PasswordPageProps, 'errors' | 'problem' | 'passing' | 'done' | 'met'>> & {
  status?: number;
};

function sendPage(
  { pages }: AccountDeps,
  req: Request,
  res: Response,
  { user }: SignedInUser,
  state: PasswordPageState = {},
): void {
  const pageState = pages.shownAt(req, res, path, state);
  if (!pageState) return;
  const { status = 200, ...props } = pageState;
  const isFirst = user.passwordHash === null;
  pages.send(
    req,
    res,
    status,
    (ctx) => createElement(PasswordPage, { ctx, action: path, member: user, isFirst, errors: {}, ...props }),
    { title: (ctx) => ctx.t(isFirst ? 'settings.password.first.title' : 'settings.password.title'), address: path },
  );
}

/** The text for each refusal, and its place. */
function refused(
  t: T,
  refusal: ChangePasswordRefusal,
  { isFirst, ...typed }: { oldPassword: string; newPassword: string; isFirst: boolean },
): PasswordPageState {
  switch (refusal.kind) {
    case 'empty':
      return {
        status: 400,
        // The specification's error bar: it disappears by itself, the texts at the fields stay.
        ...(!isFirst && { passing: t('password.change.CHANGE_PASSWORD_MESSAGE_EROR') }),
        errors: {
          ...(typed.oldPassword === '' && !isFirst && { oldPassword: t('settings.password.oldEmpty') }),
          ...(typed.newPassword === '' && { newPassword: t('settings.password.newEmpty') }),
        },
      };
    case 'wrong-password':
      return { status: 400, errors: { oldPassword: t('settings.password.wrong') } };
    case 'faults':
      return { status: 400, errors: { newPassword: passwordErrorText(t, refusal.faults) } };
    case 'too-many':
      return { status: 429, problem: retryAfterText(t, 'too-many', refusal.retryAfterMs) };
    case 'meanwhile':
      return { status: 409, problem: t(isFirst ? 'settings.password.first.meanwhile' : 'settings.password.meanwhile') };
  }
}

const show =
  (deps: AccountDeps): MemberHandler =>
  (req, res, member) => {
    const done = readQueryParam(req, 'notice') === 'done';
    const { t } = req;
    sendPage(deps, req, res, member, done ? { done: t('settings.password.done') } : {});
  };

function submit(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const { user, session } = member;
    const { t, language: lang } = req;
    // Used unchanged, never trimmed.
    const typed = {
      oldPassword: readFormField(req, names.oldPassword),
      newPassword: readFormField(req, names.newPassword),
    };
    const met = typed.newPassword === '' ? {} : { met: passwordStrength(typed.newPassword, user) };
    const from = { ip: req.ip ?? '', device: deps.devices.recognise(req, user), lang };
    const isFirst = user.passwordHash === null;
    const { setFirst, change } = deps.password;
    const changed = await hashForPage(res, deps, () =>
      isFirst ? setFirst(user, typed.newPassword, from) : change(user, typed, from),
    );
    if (changed.kind === 'busy') {
      const { status } = changed;
      return sendPage(deps, req, res, member, { status, problem: t('signIn.errors.busy'), ...met });
    }
    if (changed.kind === 'refused') {
      const { refusal } = changed;
      if (refusal.kind === 'too-many') setRetryAfter(res, refusal.retryAfterMs);
      return sendPage(deps, req, res, member, { ...met, ...refused(t, refusal, { ...typed, isFirst }) });
    }
    // All sessions of the user have ended; the present browser continues with a new session.
    await rotateSessionAfterPasswordChange(deps, req, res, { user: changed.user, session });
    const { step } = deps.nextRedirect(changed.user, { search: '' });
    // The settings' home is closed before the terms are accepted: then this page shows the notice.
    const isOpen = step.kind !== 'accept-terms';
    res.redirect(303, isOpen ? accountHomeUrl(isFirst ? 'password-first' : 'password') : `${path}?notice=done`);
  };
}

/**
 * Change Password. The old password proves the user; if the sign-in needs a second factor, this does too; a user
 * without a password needs a recent authentication by another method.
 */
export function passwordRoutes(router: Router, deps: AccountDeps): void {
  const guarded = (handler: MemberHandler) => {
    const fresh = requireRecentAuth(deps, handler);
    return requireUser(deps, (req, res, member) =>
      member.user.mfaPreference === 'none' && member.user.passwordHash !== null
        ? handler(req, res, member)
        : fresh(req, res, () => {}),
    );
  };
  router
    .route(path)
    .get(guarded(show(deps)))
    .post(guarded(submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
