import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { passwordStrength } from '../../views/parts/password-strength.ts';
import { PasswordPage, type PasswordPageProps } from '../../views/settings/password-page.tsx';
import { field, methodNotAllowed, query, setRetryAfter, type T } from '../http/index.ts';
import { type ChangeRefusal, keepSignedIn, passwordFaultText, unlessBusy, waitText } from '../password/index.ts';
import type { SettingsDeps } from './deps.ts';
import { forMember, type MemberHandler, recently, type SignedIn } from './guard.ts';
import { homeAfter } from './notices.ts';

const path = '/settings/password';
const names = { oldPassword: 'old_password', newPassword: 'new_password' } as const;

type Shown = Partial<Pick<PasswordPageProps, 'errors' | 'problem' | 'passing' | 'done' | 'met'>> & { status?: number };

function sendPage({ pages }: SettingsDeps, req: Request, res: Response, { user }: SignedIn, given: Shown = {}): void {
  const shown = pages.shownAt(req, res, path, given);
  if (!shown) return;
  const { status = 200, ...props } = shown;
  const isFirst = user.passwordHash === null;
  pages.send(
    req,
    res,
    status,
    (ctx) => createElement(PasswordPage, { ctx, action: path, member: user, isFirst, errors: {}, ...props }),
    { title: (ctx) => ctx.t(isFirst ? 'settings.password.first.title' : 'settings.password.title'), address: path },
  );
}

/** Which text stands where for each refusal. */
function refused(
  t: T,
  refusal: ChangeRefusal,
  { isFirst, ...typed }: { oldPassword: string; newPassword: string; isFirst: boolean },
): Shown {
  switch (refusal.kind) {
    case 'empty':
      return {
        status: 400,
        // The specification's error bar: it goes by itself, the fields' own words stay.
        ...(!isFirst && { passing: t('password.change.CHANGE_PASSWORD_MESSAGE_EROR') }),
        errors: {
          ...(typed.oldPassword === '' && !isFirst && { oldPassword: t('settings.password.oldEmpty') }),
          ...(typed.newPassword === '' && { newPassword: t('settings.password.newEmpty') }),
        },
      };
    case 'wrong-password':
      return { status: 400, errors: { oldPassword: t('settings.password.wrong') } };
    case 'faults':
      return { status: 400, errors: { newPassword: passwordFaultText(t, refusal.faults) } };
    case 'too-many':
      return { status: 429, problem: waitText(t, 'too-many', refusal.retryAfterMs) };
    case 'meanwhile':
      return { status: 409, problem: t(isFirst ? 'settings.password.first.meanwhile' : 'settings.password.meanwhile') };
  }
}

const show =
  (deps: SettingsDeps): MemberHandler =>
  (req, res, member) => {
    const done = query(req, 'notice') === 'done';
    const { t } = req;
    sendPage(deps, req, res, member, done ? { done: t('settings.password.done') } : {});
  };

function submit(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const { user, session } = member;
    const { t, language: lang } = req;
    // Taken as they are, never trimmed.
    const typed = { oldPassword: field(req, names.oldPassword), newPassword: field(req, names.newPassword) };
    const met = typed.newPassword === '' ? {} : { met: passwordStrength(typed.newPassword, user) };
    const from = { ip: req.ip ?? '', device: deps.devices.recognise(req, user), lang };
    const isFirst = user.passwordHash === null;
    const { setFirst, change } = deps.password;
    const changed = await unlessBusy(res, deps, () =>
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
    // Everything of the member has ended; the browser in which they are goes on with a new session.
    await keepSignedIn(deps, req, res, { user: changed.user, session });
    const { step } = deps.wayOn(changed.user, { search: '' });
    // The settings' home is closed before the terms are accepted: this page says it then.
    const isOpen = step.kind !== 'accept-terms';
    res.redirect(303, isOpen ? homeAfter(isFirst ? 'password-first' : 'password') : `${path}?notice=done`);
  };
}

/**
 * Change Password. Who knows the old one has shown who they are; where more than a password is asked for at the sign-in,
 * more is asked for here; and whoever has none yet has shown it lately in another way.
 */
export function passwordRoutes(router: Router, deps: SettingsDeps): void {
  const guarded = (handler: MemberHandler) => {
    const fresh = recently(deps, handler);
    return forMember(deps, (req, res, member) =>
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
