import { PasswordPage, type PasswordPageProps } from '../../../views/account/password-page.tsx';
import {
  AddressWithNotice,
  enforces,
  type NextPage,
  type PageHandler,
  type RequestContext,
  refusalView,
} from '../../http/index.ts';
import {
  type ChangePasswordRefusal,
  changePassword,
  changePasswordRefusals,
  hashForPage,
  passwordErrorText,
  rotateSessionAfterPasswordChange,
  setInitialPassword,
} from '../../password/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { accountHomeAfter } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';

const path = '/settings/password';
const doneNotice = 'password:changed';
const names = { oldPassword: 'old_password', newPassword: 'new_password' } as const;

type PasswordPageState = Partial<Pick<PasswordPageProps, 'errors' | 'problem' | 'passing'>> & {
  status: number;
};

/** The text for each refusal, and its place. */
function refusedState(
  r: UserRequest,
  refusal: ChangePasswordRefusal,
  { isFirst, ...typed }: { oldPassword: string; newPassword: string; isFirst: boolean },
): PasswordPageState {
  const { t } = r;
  const { status, text, field } = refusalView(r, changePasswordRefusals, refusal);
  if (refusal.kind === 'empty') {
    const errors = {
      ...(typed.oldPassword === '' && !isFirst && { oldPassword: t('settings.password.oldEmpty') }),
      ...(typed.newPassword === '' && { newPassword: t('settings.password.newEmpty') }),
    };
    // The specification's error bar: it disappears by itself, the texts at the fields stay.
    return { status, errors, ...(!isFirst && { passing: text }) };
  }
  const id = (['oldPassword', 'newPassword'] as const).find((one) => names[one] === field);
  if (id !== undefined) return { status, errors: { [id]: text } };
  const isLate = refusal.kind === 'meanwhile' && isFirst;
  return { status, problem: isLate ? t('settings.password.first.meanwhile') : text };
}

/** One answer judges both fields: the rule stops at the first that it refuses. */
async function withOtherErrors(
  { t, user }: UserRequest,
  { password }: AccountDeps,
  { state, newPassword }: { state: PasswordPageState; newPassword: string },
): Promise<PasswordPageState> {
  const { errors } = state;
  if (errors === undefined || errors.newPassword !== undefined || newPassword === '') return state;
  const faults = await password.policy.faults(newPassword, user);
  return faults.length === 0 ? state : { ...state, errors: { ...errors, newPassword: passwordErrorText(t, faults) } };
}

async function submit(r: UserRequest, deps: AccountDeps): Promise<PasswordPageState | NextPage> {
  const { t, user, session } = r;
  // Used unchanged, never trimmed.
  const typed = { oldPassword: r.field(names.oldPassword), newPassword: r.field(names.newPassword) };
  const from = { ip: r.ip, device: deps.devices.recognise(r.req, user), lang: r.lang };
  const isFirst = user.passwordHash === null;
  const replace = isFirst ? setInitialPassword : changePassword;
  const changed = await hashForPage(r, deps, () => replace(deps.password, user, { ...typed, from }));
  if (changed.kind === 'busy') return { status: changed.status, problem: t('signIn.errors.busy') };
  if (changed.kind === 'refused') {
    const state = refusedState(r, changed.refusal, { ...typed, isFirst });
    return withOtherErrors(r, deps, { state, ...typed });
  }
  // All sessions of the user have ended; the present browser continues with a new session.
  await rotateSessionAfterPasswordChange(r, deps, { user: changed.user, session });
  const { step } = deps.nextRedirect(changed.user, { search: '' });
  // The settings' home is closed before the terms are accepted: then this page shows the notice.
  const isOpen = step.kind !== 'accept-terms';
  return isOpen ? accountHomeAfter(isFirst ? 'password-first' : 'password') : new AddressWithNotice(path, doneNotice);
}

/**
 * The old password proves the user; if the sign-in needs a second factor, this does too; a user without a password
 * needs a recent authentication by another method.
 */
function requirePasswordOrRecentAuth(handler: PageHandler<AccountDeps, UserRequest>) {
  const recent = requireRecentAuth(handler);
  const guarded = requireUser<AccountDeps>((r, deps) =>
    r.user.mfaPreference === 'none' && r.user.passwordHash !== null ? handler(r, deps) : recent(r, deps),
  );
  return enforces('member', (r: RequestContext, deps: AccountDeps) => guarded(r, deps));
}

/** Change Password. */
export const passwordPage = settingsPage({
  path,
  title: (t, { isFirst }) => t(isFirst ? 'settings.password.first.title' : 'settings.password.title'),
  guard: requirePasswordOrRecentAuth,
  Page: PasswordPage,
  open: (r) => (r.takesNotice(doneNotice) ? { done: r.t('settings.password.done') } : {}),
  toProps: ({ user }) => ({ member: user, isFirst: user.passwordHash === null, errors: {} }),
  act: submit,
});
