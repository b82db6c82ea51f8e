import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { AppTile } from '../parts/app-tile.tsx';
import { Button, ButtonLink } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Icon } from '../parts/icon.tsx';
import { Script } from '../parts/script.tsx';
import { Snackbar } from '../parts/snackbar.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { AccountTiles } from './account-tiles.tsx';

/** A client app in a user's view. */
export interface AppView {
  id: string;
  name: string;
  logoUrl?: string;
  /** Its start address; without one it cannot be opened. */
  href?: string;
  /** Of that address. */
  host?: string;
  /** It requires another plan: the page that explains it. */
  limitedHref?: string;
}

interface DashboardPageProps {
  ctx: PageContext;
  /** undefined: they could not be loaded. */
  apps: readonly AppView[] | undefined;
  /** The search text, '' for none; undefined: there is no search field. */
  searchText?: string | undefined;
}

const path = '/dashboard';

function Search({ ctx, searchText }: { ctx: PageContext; searchText: string }) {
  const { t } = ctx;
  return (
    <search>
      <form className="search" action={path}>
        <label className="visually-hidden" htmlFor="field-q">
          {t('dashboard.search.label')}
        </label>
        <Icon name="search" />
        <input
          id="field-q"
          type="search"
          name="q"
          maxLength={100}
          defaultValue={searchText}
          placeholder={t('dashboard.search.hint')}
          autoComplete="off"
        />
        <Button size="small">{t('dashboard.search.submit')}</Button>
      </form>
    </search>
  );
}

interface AppsProps {
  ctx: PageContext;
  apps: readonly AppView[];
  searchText: string;
  /** All apps are on the page: a script filters them while the user types. */
  filters: boolean;
}

function Apps({ ctx, apps, searchText, filters }: AppsProps) {
  const { t } = ctx;
  if (apps.length === 0 && searchText === '') {
    return <EmptyState title={t('dashboard.empty.title')} text={t('dashboard.empty.text')} />;
  }
  if (apps.length === 0) {
    return (
      <EmptyState
        title={t('dashboard.search.none', { words: searchText })}
        text={t('dashboard.search.noneText')}
        action={
          <ButtonLink href={path} kind="quiet" size="small">
            {t('dashboard.search.all')}
          </ButtonLink>
        }
      />
    );
  }
  return (
    <>
      {searchText !== '' && (
        <p className="muted">
          <span role="status">{t('dashboard.search.found', { count: apps.length })}</span>{' '}
          <a href={path}>{t('dashboard.search.all')}</a>
        </p>
      )}
      {searchText === '' && filters && (
        <>
          <Script ctx={ctx} entry="filter" />
          <p className="visually-hidden" role="status" data-filter-status={t('dashboard.search.shown')} />
        </>
      )}
      {apps.some(({ logoUrl }) => logoUrl !== undefined) && <Script ctx={ctx} entry="pictures" />}
      <ul className="app-tiles">
        {apps.map(({ id, name, logoUrl, href, host, limitedHref }) => (
          <AppTile
            key={id}
            ctx={ctx}
            name={name}
            clientId={id}
            subtitle={host ?? (limitedHref === undefined ? t('dashboard.noStart') : undefined)}
            logoUrl={logoUrl}
            href={href}
            open={t('dashboard.open')}
            isOnly={apps.length === 1}
            {...(limitedHref !== undefined && {
              limited: { href: limitedHref, label: t('dashboard.notInPlan'), how: t('dashboard.how') },
            })}
          />
        ))}
      </ul>
    </>
  );
}

/** The client apps that the user can open. */
export function DashboardPage({ ctx, apps, searchText }: DashboardPageProps) {
  const { t, links } = ctx;
  // One row: it is as wide as the header of the other pages.
  const isShort = (apps?.length ?? 0) <= 3 && searchText === undefined;
  return (
    <PlainLayout
      ctx={ctx}
      shape={isShort ? 'apps few' : 'apps'}
      subHeader={{ backHref: links.search, at: 'dashboard' }}
    >
      <Stylesheet ctx={ctx} name="apps" />
      <div className="page-head">
        <h1>{t('dashboard.title')}</h1>
        <p className="muted">{t('dashboard.lead')}</p>
      </div>
      {searchText !== undefined && <Search ctx={ctx} searchText={searchText} />}
      {apps === undefined ? (
        <>
          <EmptyState
            title={t('dashboard.failed.title')}
            text={t('dashboard.failed.text')}
            action={
              <ButtonLink href={path} kind="quiet">
                {t('dashboard.failed.retry')}
              </ButtonLink>
            }
          />
          <Snackbar ctx={ctx} kind="error" text={t('dashboard.failed.snackbar')} duration="profile" />
        </>
      ) : (
        <Apps ctx={ctx} apps={apps} searchText={searchText ?? ''} filters={searchText !== undefined} />
      )}
      {isShort && <AccountTiles ctx={ctx} />}
    </PlainLayout>
  );
}
