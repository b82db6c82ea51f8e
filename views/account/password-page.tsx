import type { PageContext } from '../page-context.ts';
import { NewPassword } from '../parts/new-password.tsx';
import { Notice } from '../parts/notice.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { AccountAction, ActButtons } from './account-action.tsx';

export interface PasswordPageProps {
  ctx: PageContext;
  action: string;
  member: { email: string; givenName: string; familyName: string };
  /** The user has no password yet, so the form does not ask for the old one. */
  isFirst: boolean;
  errors: { oldPassword?: string; newPassword?: string };
  /** Stays until the next page. */
  problem?: string;
  /** Shown for its duration. */
  passing?: string;
  /** The password was changed; shown here while the settings' home is closed. */
  done?: string;
}

/**
 * 'Change Password', with Close and Submit (specification, section 2); for users without one, the same without the old
 * one.
 */
export function PasswordPage(props: PasswordPageProps) {
  const { ctx, action, member, isFirst, errors, problem, passing, done } = props;
  const { t } = ctx;
  const { email, givenName, familyName } = member;
  const atNew = isFirst || (errors.newPassword !== undefined && errors.oldPassword === undefined);
  const noticeName = problem ?? passing;
  return (
    <AccountAction
      ctx={ctx}
      id="change-password"
      title={t(isFirst ? 'settings.password.first.title' : 'settings.password.title')}
      lead={t(isFirst ? 'settings.password.first.lead' : 'settings.password.lead')}
      tab="sign-in"
      problem={noticeName === undefined ? undefined : { text: noticeName, passing: problem === undefined }}
    >
      {done !== undefined && <Notice kind="success">{done}</Notice>}
      <form className="form" method="post" action={action} noValidate>
        {/* For the browser's password manager. */}
        <input type="text" name="username" autoComplete="username" defaultValue={email} readOnly hidden />
        {!isFirst && (
          <PasswordField
            ctx={ctx}
            name="old_password"
            label={t('settings.password.old')}
            error={errors.oldPassword}
            autoComplete="current-password"
            autoFocus={!atNew}
          />
        )}
        <NewPassword
          ctx={ctx}
          name="new_password"
          label={t('settings.password.new')}
          error={errors.newPassword}
          known={{ email, givenName, familyName }}
          autoFocus={atNew}
        />
        <ActButtons
          ctx={ctx}
          submit={t(isFirst ? 'settings.password.first.submit' : 'settings.password.submit')}
          cancel={t('settings.password.close')}
          tab="sign-in"
        />
      </form>
    </AccountAction>
  );
}
