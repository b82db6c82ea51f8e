import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import type { Control } from '../parts/control.ts';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { type PasskeyAsk, PasskeyForm } from '../parts/passkey-form.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { MoreProviderButtons, PrimaryProviderButtons, type ProviderButtonGroups } from '../parts/provider-buttons.tsx';
import { Script } from '../parts/script.tsx';

export interface SignInPageProps {
  ctx: PageContext;
  action: string;
  controls: Record<'username' | 'password' | 'remember', Control>;
  /** Earlier input; never the password. */
  values: { username: string; remember: boolean };
  errors: { username?: string; password?: string; form?: string | undefined };
  /** The notice about the last action: the password was reset. */
  done?: string | undefined;
  /** The client app with a pending request. */
  clientName?: string;
  /** If passkeys are supported. */
  passkey?: PasskeyAsk | undefined;
  /** The identity providers. */
  providerButtons: ProviderButtonGroups;
  /** The result of an attempt at one of them. */
  providerNotice?: PageNoticeProps | undefined;
}

/** The focus: the first empty field, and after a refusal the password. */
function firstField({ values, errors }: Pick<SignInPageProps, 'values' | 'errors'>): 'username' | 'password' {
  if (errors.username !== undefined || values.username === '') return 'username';
  return 'password';
}

/** Landing and sign-in (specification, section 2). */
export function SignInPage(props: SignInPageProps) {
  const { ctx, action, controls, errors, done, clientName, passkey, providerButtons, providerNotice } = props;
  const { t, links, banner } = ctx;
  const demo = banner?.signIn;
  const values = demo?.input === undefined ? props.values : { ...props.values, username: demo.input.username };
  const focus = firstField({ values, errors });
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('signIn.heading')}</h1>
        <p className="muted">{clientName === undefined ? t('signIn.lead') : t('signIn.continueTo', { clientName })}</p>
      </div>
      {done !== undefined && <Notice kind="success">{done}</Notice>}
      {errors.form !== undefined && (
        <Notice kind="error" id="form-error">
          {errors.form}
        </Notice>
      )}
      <PageNotice ctx={ctx} notice={providerNotice} />
      {/* The Enter key activates a form's first button: that must not be a provider's. */}
      {providerButtons.top.length + providerButtons.facebook.length > 0 && (
        <button type="submit" className="visually-hidden" form="sign-in" tabIndex={-1} aria-hidden="true" />
      )}
      <PrimaryProviderButtons ctx={ctx} buttons={providerButtons} form="sign-in" />
      <form className="form" id="sign-in" method="post" action={action} noValidate>
        <Field
          {...controls.username}
          label={t('signIn.username')}
          error={errors.username}
          autoComplete={passkey === undefined ? controls.username.autoComplete : 'username webauthn'}
          defaultValue={values.username}
          autoFocus={focus === 'username'}
        />
        <PasswordField
          ctx={ctx}
          {...controls.password}
          label={t('signIn.password')}
          error={errors.password}
          {...(errors.form !== undefined && { describedBy: 'form-error' })}
          placeholder={t('signIn.passwordHint')}
          defaultValue={demo?.input?.password}
          autoFocus={focus === 'password'}
          aside={
            links.forgotPassword !== undefined && (
              <a className="small" href={links.forgotPassword}>
                {t('signIn.forgot')}
              </a>
            )
          }
        />
        <Checkbox {...controls.remember} label={t('signIn.remember')} checked={values.remember} />
        <Button block>{t('signIn.submit')}</Button>
      </form>
      {passkey !== undefined && <PasskeyForm ctx={ctx} {...passkey} />}
      <MoreProviderButtons ctx={ctx} buttons={providerButtons} form="sign-in" />
      {links.signUp !== undefined && (
        <p className="panel-foot muted">
          {t('signIn.newHere')} <a href={links.signUp}>{t('signIn.createAccount')}</a>
        </p>
      )}
      {demo?.panel}
    </AuthLayout>
  );
}
