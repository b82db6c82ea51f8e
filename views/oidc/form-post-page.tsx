import { AuthLayout } from '../layout/auth-layout.tsx';
import { redirectTitle } from '../layout/redirect-page.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';

export interface FormPostPageProps {
  ctx: PageContext;
  /** The registered address of the client app. */
  action: string;
  fields: Record<string, string>;
  clientName?: string;
}

/** Posts an answer to a client app: a script of the document submits the form, and without it the button does. */
export function FormPostPage({ ctx, action, fields, clientName }: FormPostPageProps) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx}>
      <form method="post" action={action} className="waiting">
        <HiddenFields fields={fields} />
        <div className="panel-head" role="status">
          <h1>{redirectTitle(ctx, clientName === undefined ? {} : { clientName })}</h1>
          <p className="muted">{t('common.redirect.hint')}</p>
        </div>
        <Button block>{t('common.redirect.link')}</Button>
      </form>
    </AuthLayout>
  );
}
