import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { CodeForm } from '../parts/code-form.tsx';
import type { NewestCode } from '../parts/code-input.tsx';
import { MailboxLink } from '../parts/mailbox-link.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { SignUpSteps } from './sign-up-steps.tsx';

export interface CodePageProps {
  ctx: PageContext;
  action: string;
  signInHref: string;
  /** The address of the code: always shown, so that users do not unknowingly confirm another person's account. */
  email: string;
  /** The link back to step 0, for sign-ups that started here; otherwise the address cannot be changed. */
  backHref?: string | undefined;
  /** The steps of a sign-up above it, or of the post-signup flow. */
  steps: boolean | 'post-signup';
  /** Only a complete code stays, and never a wrong one. */
  code?: string;
  error?: string | undefined;
  notice?: PageNoticeProps;
  /** No code could be sent. */
  unsent?: boolean;
  /** Until another code can be requested. */
  waitSeconds: number;
  /** The code that was sent last. */
  newest?: NewestCode | undefined;
}

/** Step 1 of a sign-up and /verify-code: 'Enter Security Code' (specification, section 2): the states before `proven`. */
export function CodePage(props: CodePageProps) {
  const { ctx, action, signInHref, email, backHref, steps, code, error, notice, unsent, waitSeconds, newest } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signUp" long>
      <Script ctx={ctx} entry="busy" />
      {steps && <SignUpSteps ctx={ctx} current={1} postSignUp={steps === 'post-signup'} />}
      <div className="panel-head">
        <h1>{t('signUp.code.heading')}</h1>
        <p className="muted">
          {t(unsent ? 'signUp.code.unsent' : 'signUp.code.lead')} <strong className="address">{email}</strong>
        </p>
        <MailboxLink ctx={ctx} email={email} />
      </div>
      <PageNotice ctx={ctx} notice={notice} />
      <CodeForm
        ctx={ctx}
        action={action}
        label={t('signUp.code.label')}
        incomplete={t('codes.incomplete')}
        error={error}
        newest={newest}
        resend={{
          question: t('signUp.code.missing'),
          label: t('signUp.code.resend'),
          waitSeconds,
          waitText: t('signUp.code.wait', { seconds: '%' }),
        }}
        {...(code !== undefined && { value: code })}
      >
        <Button block>{t('signUp.code.confirm')}</Button>
      </CodeForm>
      <div className="panel-ways">
        <form method="post" action={action}>
          {backHref !== undefined && (
            <ButtonLink kind="link" size="small" href={backHref}>
              {t('signUp.back')}
            </ButtonLink>
          )}
          {backHref !== undefined && (
            <Button kind="link" size="small" name="act" value="start-over">
              {t('signUp.startOver')}
            </Button>
          )}
          <Button kind="link" size="small" name="act" value="cancel">
            {t('signUp.cancel')}
          </Button>
        </form>
        <p className="panel-foot small muted">
          {t('signUp.haveAccount')} <a href={signInHref}>{t('signUp.login')}</a>
        </p>
      </div>
    </AuthLayout>
  );
}
