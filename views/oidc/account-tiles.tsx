import type { PageContext } from '../page-context.ts';

/** Drawn like the icons, which the browser's code contains: no script needs these. */
const drawings = {
  membership: 'M3.5 4.5h13a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zM2.5 8h15M5.5 12.5h3',
  security: 'M10 2.5l6.5 2.3v4.7c0 3.8-2.6 6.7-6.5 8-3.9-1.3-6.5-4.2-6.5-8V4.8L10 2.5zM7.3 10l2 2 3.6-3.9',
  notifications: 'M5 14V9a5 5 0 0 1 10 0v5l1.2 1.5H3.8L5 14zM8.3 17.2h3.4M10 4V2.5',
} as const;

const pages = ['security', 'membership', 'notifications'] as const;

/** Links to the pages of the account, below few apps: they lead on from a page that is almost empty. */
export function AccountTiles({ ctx: { t, links } }: { ctx: PageContext }) {
  const offered = pages.filter((page) => links[page] !== undefined);
  if (offered.length === 0) return null;
  return (
    <section className="account-tiles">
      <h2>{t('dashboard.account.title')}</h2>
      <ul className="app-tiles">
        {offered.map((page) => (
          <li key={page}>
            <a className="account-tile" href={links[page]}>
              <svg className="icon" width="20" height="20" viewBox="0 0 20 20" fill="none" aria-hidden="true">
                <path d={drawings[page]} />
              </svg>
              <span>
                <strong>{t(`common.menu.${page}`)}</strong>{' '}
                <span className="muted small">{t(`dashboard.account.${page}`)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
