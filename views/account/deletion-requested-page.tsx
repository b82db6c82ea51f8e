import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';

/** The page after a request for deletion; the user is signed out. */
export function DeletionRequestedPage({ ctx, days }: { ctx: PageContext; days: number }) {
  const { t, links } = ctx;
  return (
    <AuthLayout ctx={ctx}>
      <div className="panel-head">
        <h1>{t('leaving.requested.title')}</h1>
        <p>{t('leaving.requested.lead', { count: days })}</p>
        <p className="muted">{t('leaving.requested.stay')}</p>
      </div>
      <ButtonLink href={links.signIn ?? '/'} kind="quiet" block>
        {t('leaving.requested.signIn')}
      </ButtonLink>
    </AuthLayout>
  );
}
