import type { LinkName, PageContext } from '../page-context.ts';
import { Icon } from '../parts/icon.tsx';

const names = ['dashboard', 'showcasePages', 'shortlist', 'wallet'] as const satisfies readonly LinkName[];
export type SubHeaderItem = (typeof names)[number];

/** Back, and the marketplace's main pages. */
export function SubHeader({
  ctx,
  backHref,
  at,
}: {
  ctx: PageContext;
  backHref?: string | undefined;
  at?: SubHeaderItem;
}) {
  const { t, links } = ctx;
  const named = names.filter((name) => links[name] !== undefined);
  if (backHref === undefined && named.length === 0) return null;
  return (
    <nav className="sub-header" aria-label={t('common.subHeader.label')}>
      <ul>
        {backHref !== undefined && (
          <li>
            <a href={backHref}>
              <Icon name="back" />
              {t('common.subHeader.back')}
            </a>
          </li>
        )}
        {named.map((name) => (
          <li key={name}>
            <a href={links[name]} aria-current={name === at ? 'page' : undefined}>
              {t(`common.subHeader.${name}`)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
