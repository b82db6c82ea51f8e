import { formatDate } from '../format.ts';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { Notice } from '../parts/notice.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { Script } from '../parts/script.tsx';

export interface UndoEmailChangePageProps {
  ctx: PageContext;
  action: string;
  /** From the link. */
  token: string;
  /** The restored address. */
  email: string;
  changedAtMs: number;
  errors: { password?: string; confirm?: string };
  problem?: string | undefined;
}

/** The page of the link to the former address: only its form changes anything. */
export function UndoEmailChangePage(props: UndoEmailChangePageProps) {
  const { ctx, action, token, email, changedAtMs, errors, problem } = props;
  const { t, lang } = ctx;
  const atConfirm = errors.confirm !== undefined && errors.password === undefined;
  return (
    <AuthLayout ctx={ctx} long>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('contact.undo.title')}</h1>
        <p>{t('contact.undo.lead', { email })}</p>
        <p className="muted">{t('contact.undo.what', { date: formatDate(lang, changedAtMs, 'exact') })}</p>
      </div>
      {problem !== undefined && <Notice kind="error">{problem}</Notice>}
      <form className="form" method="post" action={action} noValidate>
        <input type="hidden" name="token" value={token} />
        <input type="text" name="username" autoComplete="username" defaultValue={email} readOnly hidden />
        <NewPassword
          ctx={ctx}
          name="password"
          label={t('contact.undo.password')}
          error={errors.password}
          known={{ email }}
          autoFocus={!atConfirm}
        />
        <PasswordField
          ctx={ctx}
          name="confirm"
          label={t('contact.undo.confirm')}
          error={errors.confirm}
          autoComplete="new-password"
          autoFocus={atConfirm}
        />
        <Button block>{t('contact.undo.submit')}</Button>
      </form>
    </AuthLayout>
  );
}

/** The link was used, or has expired. */
export function UndoExpiredPage({ ctx }: { ctx: PageContext }) {
  const { t, links } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <div className="panel-head">
        <h1>{t('contact.undo.expiredTitle')}</h1>
        <p>{t('contact.undo.expired')}</p>
        <p className="muted">
          {t('contact.undo.help')}
          {links.help !== undefined && (
            <>
              {' '}
              <a href={links.help}>{t('common.footer.help')}</a>
            </>
          )}
        </p>
      </div>
      <ButtonLink href={links.signIn ?? '/'} block>
        {t('contact.undo.signIn')}
      </ButtonLink>
    </AuthLayout>
  );
}

export function UndoDonePage({ ctx }: { ctx: PageContext }) {
  const { t, links } = ctx;
  return (
    <AuthLayout ctx={ctx}>
      <div className="panel-head">
        <h1>{t('contact.undo.doneTitle')}</h1>
        <p>{t('contact.undo.done')}</p>
      </div>
      <ButtonLink href={links.signIn ?? '/'} block>
        {t('contact.undo.signIn')}
      </ButtonLink>
    </AuthLayout>
  );
}
