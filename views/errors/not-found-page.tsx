import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { StatusNumber } from './status-number.tsx';

interface NotFoundPageProps {
  ctx: PageContext;
  /** `oops` under /settings and /signup, `fetch` everywhere else. */
  variant: 'fetch' | 'oops';
  homeHref: string;
}

const pageTitle = (ctx: PageContext, variant: NotFoundPageProps['variant']) =>
  ctx.t(variant === 'oops' ? 'errors.notFound.oopsTitle' : 'errors.notFound.title');

export function NotFoundPage({ ctx, variant, homeHref }: NotFoundPageProps) {
  const { t } = ctx;
  return (
    <PlainLayout ctx={ctx} shape="centre">
      <StatusNumber status={404} />
      <div className="panel-head">
        <h1>{pageTitle(ctx, variant)}</h1>
        {variant === 'fetch' && <p className="muted">{t('errors.notFound.text')}</p>}
      </div>
      <ButtonLink href={homeHref}>{t('errors.home')}</ButtonLink>
    </PlainLayout>
  );
}
