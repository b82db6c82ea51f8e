import type { ReactNode } from 'react';
import { AuthLayout } from '../layout/auth-layout.tsx';
import { type PageContext, pageForm } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import type { Control } from '../parts/control.ts';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { noticeDurationsMs } from '../parts/notice-durations.ts';
import { PageNotice } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';

export interface RequestPageProps {
  ctx: PageContext;
  action: string;
  controls: Record<'username', Control>;
  username: string;
  error?: string | undefined;
  /** No account has the name. */
  unknown?: boolean | undefined;
  /** Back to the sign-in, with its continuation. */
  signInHref: string;
  /** The reason that no code was sent, or that the earlier one is useless. */
  problem?: { title?: string | undefined; text: string } | undefined;
}

/** The fact that the two texts of the specification above do not name. */
function UnknownHint({ ctx: { t, links }, username }: { ctx: PageContext; username: string }) {
  const [before, after] = t('password.request.unknownHint', { signUp: '\n' }).split('\n');
  return (
    <p className="small">
      {t(username.includes('@') ? 'password.request.noAddress' : 'password.request.noAccount')} {before}
      <a href={links.signUp}>{t('password.request.unknownSignUp')}</a>
      {after}
    </p>
  );
}

/** Requests a code: on its own page, and when a code is required in a browser that has requested none. */
function RequestPage({
  ctx,
  action,
  controls,
  username,
  error,
  unknown = false,
  signInHref,
  problem,
  head,
}: RequestPageProps & { head: ReactNode }) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">{head}</div>
      <PageNotice ctx={ctx} notice={problem && { kind: 'error', ...problem }} />
      <form className="form" id={pageForm} method="post" action={action} noValidate>
        {/* Sent by a browser without scripts alone. */}
        <noscript>
          <input type="hidden" name="noscript" value="1" />
        </noscript>
        <Field
          {...controls.username}
          label={t('password.request.username')}
          error={error}
          placeholder={t('password.request.placeholder')}
          defaultValue={username}
          autoFocus
        />
        {unknown && <UnknownHint ctx={ctx} username={username} />}
        <Button block>{t('password.request.submit')}</Button>
      </form>
      <p className="panel-foot small">
        <a href={signInHref}>{t('password.request.remembered')}</a>
      </p>
    </AuthLayout>
  );
}

/** 'Password Request' (specification, section 2): the state `none` of a reset. */
export function ForgotPasswordPage(props: RequestPageProps) {
  const { t } = props.ctx;
  return (
    <RequestPage
      {...props}
      head={
        <>
          <h1>{t('password.request.heading')}</h1>
          <p className="muted">{t('password.request.lead')}</p>
        </>
      }
    />
  );
}

/** The code was sent. With scripts the page for it follows by itself after the specification's 1.5 seconds. */
export function CodeSentPage({ ctx, href }: { ctx: PageContext; href: string }) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="redirect" />
      <div className="panel-head">
        <h1>{t('password.request.heading')}</h1>
      </div>
      <Notice kind="success" title={t('password.request.confirmedTitle')}>
        {t('password.request.confirmed')}
      </Notice>
      <p data-redirect={noticeDurationsMs.redirecting}>
        <ButtonLink href={href} block>
          {t('signUp.confirmed.continue')}
        </ButtonLink>
      </p>
    </AuthLayout>
  );
}

/** 'Reset Your Password' in a browser without a flow, or with an expired one. */
export function ResetStartPage(props: RequestPageProps) {
  const { t } = props.ctx;
  return (
    <RequestPage
      {...props}
      head={
        <>
          <h1>{t('password.reset.title')}</h1>
          <p className="muted">{t('password.reset.startHere')}</p>
        </>
      }
    />
  );
}
