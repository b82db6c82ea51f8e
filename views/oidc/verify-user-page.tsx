import { ArrivalAbove, withoutArrival } from '../layout/arrival.tsx';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Loader } from '../parts/loader.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';

interface VerifyUserPageProps {
  ctx: PageContext;
  action: string;
  fields: Record<string, string>;
  clientName: string;
}

/**
 * Between sign-in and the client app. The script `verify-user` posts the form's fields as JSON and redirects; without
 * it, or after a failure, the user clicks the button.
 */
export function VerifyUserPage({ ctx, action, fields, clientName }: VerifyUserPageProps) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={withoutArrival(ctx)}>
      <Script ctx={ctx} entry="verify-user" />
      <form
        className="waiting"
        method="post"
        action={action}
        id="verify-user"
        data-failed={t('oauth.verify.failedTitle')}
        data-retry={t('oauth.verify.retry')}
      >
        <HiddenFields fields={fields} />
        <Loader />
        <div className="panel-head" role="status">
          <h1>{t('oauth.verify.title')}</h1>
          <p className="muted">{t('oauth.verify.lead', { clientName })}</p>
        </div>
        <Notice kind="error" hidden>
          {t('oauth.verify.failed')}
        </Notice>
        <ArrivalAbove ctx={ctx} />
        <div className="waiting-act">
          <noscript>
            <p className="muted">{t('oauth.verify.noScript')}</p>
          </noscript>
          <Button block>{t('oauth.verify.continue')}</Button>
        </div>
      </form>
    </AuthLayout>
  );
}
