import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { CodeInput, type NewestCode } from '../parts/code-input.tsx';
import type { Control } from '../parts/control.ts';
import { MailboxLink } from '../parts/mailbox-link.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { Notice } from '../parts/notice.tsx';
import type { NoticeDuration } from '../parts/notice-durations.ts';
import { PageNotice } from '../parts/page-notice.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { Resend, ResendForm } from '../parts/resend.tsx';
import { Script } from '../parts/script.tsx';

/** The notice about the last action. */
interface ResetNews {
  title?: string;
  text: string;
  duration: NoticeDuration & 'short';
}

export interface ResetPasswordPageProps {
  ctx: PageContext;
  action: string;
  controls: Record<'code' | 'password' | 'confirm', Control>;
  /** The form for another account's code. */
  otherHref: string;
  /** As it was typed; for the browser's password manager. */
  username: string;
  /** The destination of the code, in words. */
  sent: string;
  /** Only a complete code stays, and never a wrong one. */
  code?: string;
  /** It was already right, and need not be entered again. */
  proven: boolean;
  errors: { code?: string; password?: string; confirm?: string };
  problem?: { title?: string | undefined; text: string };
  notice?: ResetNews | undefined;
  /** The user was imported without a password. */
  moved?: boolean;
  /** Until another code can be requested. */
  waitSeconds: number;
  /** The code that was sent last. */
  newest?: NewestCode | undefined;
}

/** The focus: the first refused field, else the first one. */
function firstField({ errors, proven }: ResetPasswordPageProps): 'code' | 'password' | 'confirm' {
  const refused = (['code', 'password', 'confirm'] as const).find((name) => errors[name] !== undefined);
  return refused ?? (proven ? 'password' : 'code');
}

function Fields(props: ResetPasswordPageProps) {
  const { ctx, action, controls, username, code, proven, errors, newest, waitSeconds } = props;
  const { t } = ctx;
  const focus = firstField(props);
  return (
    <>
      <input type="text" name="username" autoComplete="username" defaultValue={username} readOnly hidden />
      {!proven && (
        <CodeInput
          ctx={ctx}
          name={controls.code.name}
          label={t('password.reset.code')}
          length={6}
          incomplete={t('codes.incomplete')}
          error={errors.code}
          newest={newest}
          {...(code !== undefined && { value: code })}
          resend={
            <Resend
              ctx={ctx}
              action={action}
              question={t('password.reset.notReceived')}
              label={t('password.reset.sendAgain')}
              waitSeconds={waitSeconds}
              waitText={t('password.reset.in', { seconds: '%' })}
            />
          }
          autoFocus={focus === 'code'}
        />
      )}
      <NewPassword
        ctx={ctx}
        name={controls.password.name}
        label={t('password.reset.newPassword')}
        error={errors.password}
        known={{ email: username }}
        autoFocus={focus === 'password'}
      />
      <PasswordField
        ctx={ctx}
        {...controls.confirm}
        label={t('password.reset.confirmPassword')}
        error={errors.confirm}
        autoFocus={focus === 'confirm'}
      />
    </>
  );
}

/** 'Reset Your Password' in the browser that has requested a code (specification, section 2). */
export function ResetPasswordPage(props: ResetPasswordPageProps) {
  const { ctx, action, otherHref, username, sent, proven, problem, notice, moved = false } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn" long>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('password.reset.title')}</h1>
        <p className="muted">{proven ? t('password.reset.proven') : `${t('password.reset.check')}. ${sent}`}</p>
        {!proven && <MailboxLink ctx={ctx} email={username} />}
      </div>
      <PageNotice ctx={ctx} notice={notice && { kind: 'success', ...notice }} />
      {moved && (
        <Notice kind="info" title={t('password.reset.movedTitle')}>
          {t('password.reset.moved')}
        </Notice>
      )}
      <PageNotice ctx={ctx} notice={problem && { kind: 'error', ...problem }} />
      <form className="form" method="post" action={action} noValidate>
        <Fields {...props} />
        <Button block>{t('password.reset.submit')}</Button>
      </form>
      {!proven && <ResendForm action={action} />}
      <div className="panel-ways">
        <p className="small muted">
          {t('password.reset.other')} <a href={otherHref}>{t('password.reset.change')}</a>
        </p>
      </div>
    </AuthLayout>
  );
}
