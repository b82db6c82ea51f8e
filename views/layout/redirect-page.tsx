import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Loader } from '../parts/loader.tsx';
import { ArrivalAbove, withoutArrival } from './arrival.tsx';
import { AuthLayout } from './auth-layout.tsx';

/** The name of the redirect's target. */
export interface RedirectTarget {
  clientName?: string;
  providerName?: string;
}

export function redirectTitle({ t }: PageContext, { clientName, providerName }: RedirectTarget): string {
  if (providerName !== undefined) return t('common.redirect.toProvider', { providerName });
  return clientName === undefined ? t('common.redirect.title') : t('common.redirect.titleTo', { clientName });
}

/**
 * Redirects to `href` by itself (meta refresh in the head). It replaces a redirect after a form's POST to another site,
 * which `form-action 'self'` would block.
 */
export function RedirectPage({ ctx, href, to }: { ctx: PageContext; href: string; to: RedirectTarget }) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={withoutArrival(ctx)}>
      <div className="waiting">
        <Loader />
        <div className="panel-head" role="status">
          <h1>{redirectTitle(ctx, to)}</h1>
          <p className="muted">{t('common.redirect.hint')}</p>
        </div>
        <ArrivalAbove ctx={ctx} />
        <ButtonLink href={href} kind="quiet" block>
          {t('common.redirect.link')}
        </ButtonLink>
      </div>
    </AuthLayout>
  );
}
