import type { PageContext } from '../page-context.ts';
import { ButtonLink } from './button.tsx';

interface PageLinksProps {
  ctx: PageContext;
  /** Of the list: a page may have several lists. */
  label: string;
  /** From 1. */
  page: number;
  pages: number;
  toHref: (page: number) => string;
}

/** The page links of a list: plain links. A list of one page has none. */
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
