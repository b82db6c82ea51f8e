import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { CodeInput, type NewestCode } from '../parts/code-input.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';

export interface MailedCodePageProps {
  ctx: PageContext;
  action: string;
  signInHref: string;
  forgotHref: string;
  /** The lifetime of a code. */
  minutes: number;
  /** The code that was sent last. */
  newest?: NewestCode | undefined;
  /** The fault of the code. */
  error?: string | undefined;
  /** The reason that no code is accepted. */
  problem?: string | undefined;
}

/**
 * The code by mail that a sign-in needs while very many attempts are made. It has the same text after a right and a
 * wrong password.
 */
export function MailedCodePage(props: MailedCodePageProps) {
  const { ctx, action, signInHref, forgotHref, minutes, error, problem, newest } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn" long>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('signIn.mailedCode.heading')}</h1>
        <p className="muted">{t('signIn.mailedCode.lead', { minutes })}</p>
      </div>
      {problem !== undefined && <Notice kind="error">{problem}</Notice>}
      <form className="form" method="post" action={action} noValidate>
        <CodeInput
          ctx={ctx}
          name="code"
          label={t('signIn.mailedCode.label')}
          length={6}
          incomplete={t('codes.incomplete')}
          error={error}
          newest={newest}
          autoFocus
          isAlone
        />
        <Button block>{t('signIn.mailedCode.confirm')}</Button>
      </form>
      <div className="panel-ways">
        <p className="small muted">{t('signIn.mailedCode.missing')}</p>
        <p className="actions">
          <ButtonLink kind="link" size="small" href={signInHref}>
            {t('signIn.mailedCode.signInAgain')}
          </ButtonLink>
          <ButtonLink kind="link" size="small" href={forgotHref}>
            {t('signIn.mailedCode.forgot')}
          </ButtonLink>
        </p>
      </div>
    </AuthLayout>
  );
}
