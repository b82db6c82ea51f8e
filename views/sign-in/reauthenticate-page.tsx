import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import type { Control } from '../parts/control.ts';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { type PasskeyAsk, PasskeyForm } from '../parts/passkey-form.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { Or, type ProviderButtonProps, ProviderButtons } from '../parts/provider-buttons.tsx';
import { Script } from '../parts/script.tsx';

interface ReAuthenticatePageProps {
  ctx: PageContext;
  action: string;
  controls: Record<'password', Control>;
  /** The user whose password it is: fixed, so that the page is not taken for a normal sign-in. */
  email: string;
  /** Federated users may have none. */
  hasPassword: boolean;
  /** The fault of the password. */
  error?: string | undefined;
  /** The reason that it was not checked. */
  problem?: string | undefined;
  /** If the user has a passkey. */
  passkey?: PasskeyAsk | undefined;
  /** The providers that are linked to the account. */
  providerButtons: readonly ProviderButtonProps[];
  /** The result of an attempt at one of them. */
  providerNotice?: PageNoticeProps | undefined;
}

function PasswordForm({ ctx, action, controls: { password }, email, error, passkey }: ReAuthenticatePageProps) {
  const { t, links } = ctx;
  return (
    <form className="form" method="post" action={action} noValidate>
      <Field
        name="username"
        label={t('signIn.reauthenticate.email')}
        type="email"
        autoComplete="username"
        defaultValue={email}
        readOnly
      />
      <PasswordField
        ctx={ctx}
        name={password.name}
        label={t('signIn.password')}
        error={error}
        autoComplete={passkey === undefined ? password.autoComplete : `${password.autoComplete} webauthn`}
        autoFocus
        aside={
          links.forgotPassword !== undefined && (
            <a className="small" href={links.forgotPassword}>
              {t('signIn.forgot')}
            </a>
          )
        }
      />
      <Button block>{t('signIn.reauthenticate.submit')}</Button>
    </form>
  );
}

/**
 * Asks a signed-in user to authenticate again before a change of credentials: with their password, a passkey, or a
 * linked provider.
 */
export function ReAuthenticatePage(props: ReAuthenticatePageProps) {
  const { ctx, hasPassword, problem, passkey, providerButtons, providerNotice } = props;
  const { t, links } = ctx;
  const byProvider = providerButtons.length > 0;
  const lead = byProvider ? 'signIn.reauthenticate.leadOr' : 'signIn.reauthenticate.lead';
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('signIn.reauthenticate.heading')}</h1>
        <p className="muted">{t(hasPassword ? lead : 'signIn.reauthenticate.leadWithoutPassword')}</p>
      </div>
      {problem !== undefined && <Notice kind="error">{problem}</Notice>}
      <PageNotice ctx={ctx} notice={providerNotice} />
      {hasPassword && <PasswordForm {...props} />}
      {passkey !== undefined && <PasskeyForm ctx={ctx} {...passkey} />}
      {byProvider && (
        <>
          {hasPassword && <Or>{t('federation.buttons.or')}</Or>}
          <form className="provider-buttons" method="post">
            <ProviderButtons buttons={providerButtons} />
          </form>
        </>
      )}
      {!hasPassword && links.forgotPassword !== undefined && (
        <p className="small muted">
          {t('signIn.reauthenticate.noPassword')}{' '}
          <a href={links.forgotPassword}>{t('signIn.reauthenticate.setPassword')}</a>
        </p>
      )}
      <p className="panel-foot muted">
        <a href="/settings">{t('signIn.reauthenticate.cancel')}</a>
      </p>
    </AuthLayout>
  );
}
