import { DoorLayout } from '../layout/door-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { type PasskeyAsk, PasskeyForm } from '../parts/passkey-form.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { Script } from '../parts/script.tsx';

export interface ReAuthenticatePageProps {
  ctx: PageContext;
  action: string;
  /** Whose password it is: fixed, so that nobody takes it for another sign-in. */
  email: string;
  /** What is wrong with the password. */
  error?: string | undefined;
  /** Why it was not looked at. */
  problem?: string | undefined;
  /** Where the member has a passkey. */
  passkey?: PasskeyAsk | undefined;
}

/** Asks a member who is signed in for the password once more, before something is changed that signs them in. */
export function ReAuthenticatePage({ ctx, action, email, error, problem, passkey }: ReAuthenticatePageProps) {
  const { t, links } = ctx;
  return (
    <DoorLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('mfa.again.heading')}</h1>
        <p className="muted">{t('mfa.again.lead')}</p>
      </div>
      {problem !== undefined && <Notice kind="error">{problem}</Notice>}
      <form className="form" method="post" action={action} noValidate>
        <Field
          name="username"
          label={t('mfa.again.email')}
          type="email"
          autoComplete="username"
          defaultValue={email}
          readOnly
        />
        <PasswordField
          ctx={ctx}
          name="password"
          label={t('signIn.password')}
          error={error}
          autoComplete={passkey === undefined ? 'current-password' : 'current-password webauthn'}
          autoFocus
          aside={
            links.forgotPassword !== undefined && (
              <a className="small" href={links.forgotPassword}>
                {t('signIn.forgot')}
              </a>
            )
          }
        />
        <Button block>{t('mfa.again.submit')}</Button>
      </form>
      {passkey !== undefined && <PasskeyForm ctx={ctx} {...passkey} />}
      <p className="panel-foot muted">
        <a href="/settings">{t('mfa.again.cancel')}</a>
      </p>
    </DoorLayout>
  );
}
