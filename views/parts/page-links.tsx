import type { PageContext } from '../page-context.ts';
import { ButtonLink } from './button.tsx';

export interface PageLinksProps {
  ctx: PageContext;
  /** Of the list: several lists may stand on one page. */
  label: string;
  /** From 1. */
  page: number;
  pages: number;
  toHref: (page: number) => string;
}

/** The way through a list that is shown some rows at a time: plain links. A list of one page has none. */
export function PageLinks({ ctx, label, page, pages, toHref }: PageLinksProps) {
  const { t } = ctx;
  if (pages < 2) return null;
  return (
    <nav className="page-links" aria-label={label}>
      {page > 1 && (
        <ButtonLink kind="quiet" size="small" href={toHref(page - 1)}>
          {t('devices.pages.previous')}
        </ButtonLink>
      )}
      <span className="muted small">{t('devices.pages.at', { page, pages })}</span>
      {page < pages && (
        <ButtonLink kind="quiet" size="small" href={toHref(page + 1)}>
          {t('devices.pages.next')}
        </ButtonLink>
      )}
    </nav>
  );
}
