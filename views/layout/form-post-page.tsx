import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Loader } from '../parts/loader.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { type RedirectTarget, redirectTitle } from './redirect-page.tsx';

interface FormPostPageProps {
  ctx: PageContext;
  /** The registered address of a client app, or the configured one of a provider. */
  action: string;
  fields: Record<string, string>;
  to: RedirectTarget;
  /** Submits itself by a script with the page's nonce; a page with a policy of its own has its own script. */
  submits?: boolean;
}

/** Without quotation marks, which React would escape. */
const script = 'document.currentScript.previousElementSibling.submit()';

/** Posts to another site: a script submits the form, and without it the button does. */
export function FormPostPage({ ctx, action, fields, to, submits = false }: FormPostPageProps) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx}>
      <form method="post" action={action} className="waiting">
        <HiddenFields fields={fields} />
        <Loader />
        <div className="panel-head" role="status">
          <h1>{redirectTitle(ctx, to)}</h1>
        </div>
        <div className="waiting-act">
          <p className="muted">{t('common.redirect.hint')}</p>
          <Button block>{t('common.redirect.link')}</Button>
        </div>
      </form>
      {submits && <script nonce={ctx.nonce}>{script}</script>}
    </AuthLayout>
  );
}
