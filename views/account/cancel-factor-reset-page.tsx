import { formatDate } from '../format.ts';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Script } from '../parts/script.tsx';

interface CancelFactorResetPageProps {
  ctx: PageContext;
  action: string;
  /** From the link. */
  token: string;
  requestedAtMs: number;
  dueAtMs: number;
}

/** The page of the link in the mail and the text message: only its form changes anything. */
export function CancelFactorResetPage({ ctx, action, token, requestedAtMs, dueAtMs }: CancelFactorResetPageProps) {
  const { t, lang } = ctx;
  const dates = { asked: formatDate(lang, requestedAtMs, 'moment'), due: formatDate(lang, dueAtMs, 'moment') };
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('leaving.reset.pageTitle')}</h1>
        <p>{t('leaving.reset.pageLead', dates)}</p>
      </div>
      <form className="form" method="post" action={action}>
        <input type="hidden" name="token" value={token} />
        <Button block>{t('leaving.reset.stopSubmit')}</Button>
      </form>
    </AuthLayout>
  );
}

export function FactorResetCancelledPage({ ctx }: { ctx: PageContext }) {
  const { t, links } = ctx;
  return (
    <AuthLayout ctx={ctx}>
      <div className="panel-head">
        <h1>{t('leaving.reset.doneTitle')}</h1>
        <p>{t('leaving.reset.done')}</p>
      </div>
      <ButtonLink href={links.forgotPassword ?? '/'} block>
        {t('leaving.reset.setPassword')}
      </ButtonLink>
    </AuthLayout>
  );
}

/** The link was used, or has expired. */
export function FactorResetExpiredPage({ ctx }: { ctx: PageContext }) {
  const { t, links } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <div className="panel-head">
        <h1>{t('leaving.reset.expiredTitle')}</h1>
        <p>{t('leaving.reset.expired')}</p>
      </div>
      <ButtonLink href={links.signIn ?? '/'} block>
        {t('leaving.reset.signIn')}
      </ButtonLink>
    </AuthLayout>
  );
}
