import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { StatusNumber } from './status-number.tsx';

interface ErrorPageProps {
  ctx: PageContext;
  status: number;
  title: string;
  message: string;
  /** The log's entry has the same. Omitted: there is none. */
  reference?: string;
  action?: { href: string; label: string };
}

export function ErrorPage({ ctx, status, title, message, reference, action }: ErrorPageProps) {
  const { t } = ctx;
  if (ctx.isPart) {
    return (
      <div data-problem="">
        <strong>{title}</strong> {message}{' '}
        {status >= 500 && reference !== undefined && `${t('errors.reference')} ${reference}`}
      </div>
    );
  }
  return (
    <PlainLayout ctx={ctx} shape="centre" bare>
      <StatusNumber status={status} />
      <div className="panel-head">
        <h1>{title}</h1>
        <p className="muted">{message}</p>
      </div>
      {action !== undefined && <ButtonLink href={action.href}>{action.label}</ButtonLink>}
      {reference !== undefined && (
        <div className="reference">
          <p>
            <span>{t('errors.reference')}</span> <code>{reference}</code>
          </p>
          <p className="small muted">{t('errors.referenceHint')}</p>
        </div>
      )}
    </PlainLayout>
  );
}
