import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Notice } from '../parts/notice.tsx';

export interface StandInAppPageProps {
  ctx: PageContext;
  app: 'search' | 'main';
  member?: PageContext['member'];
  signOutAction: string;
}

const showcases = [
  { key: 'photo', name: 'Studio Brandt', place: 'Hamburg' },
  { key: 'coffee', name: 'Café Lumen', place: 'Antwerpen' },
  { key: 'wood', name: 'Atelier Noyer', place: 'Lyon' },
  { key: 'print', name: 'Hawthorn Press', place: 'Bristol' },
  { key: 'travel', name: 'Nachtlijn', place: 'Utrecht' },
  { key: 'garden', name: 'Grünwerk', place: 'Wien' },
] as const;

const tiles = ['pages', 'shortlist', 'teams', 'wallet'] as const;

function SearchApp({ ctx }: { ctx: PageContext }) {
  const { t, member } = ctx;
  return (
    <>
      <div className="hero">
        {member !== undefined && <p className="eyebrow">{t('sandbox.search.greeting', { name: member.name })}</p>}
        <h1>{t('sandbox.search.heading')}</h1>
        <form className="search">
          <label className="visually-hidden" htmlFor="field-q">
            {t('sandbox.search.label')}
          </label>
          <Icon name="search" />
          <input id="field-q" type="search" name="q" placeholder={t('sandbox.search.results')} />
          <Button size="small">{t('sandbox.search.submit')}</Button>
        </form>
      </div>
      <h2>{t('sandbox.search.results')}</h2>
      <ul className="tiles">
        {showcases.map(({ key, name, place }, at) => (
          <li className="tile" key={key}>
            <span className={`tile-picture picture-${at % 3}`} aria-hidden="true" />
            <h3>{name}</h3>
            <p className="muted small">{t(`sandbox.search.items.${key}`)}</p>
            <p className="chip">{place}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

function MainApp({ ctx }: { ctx: PageContext }) {
  const { t } = ctx;
  return (
    <>
      <h1>{t('sandbox.main.title')}</h1>
      <ul className="tiles">
        {tiles.map((name) => (
          <li className="tile" key={name}>
            <h2>{t(`sandbox.main.tiles.${name}`)}</h2>
            <p className="muted small">{t('sandbox.main.empty')}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Stands for one of the marketplace's own apps where none is configured. */
export function StandInAppPage({ ctx, app, member, signOutAction }: StandInAppPageProps) {
  const own: PageContext = { ...ctx, sandbox: ctx.sandbox ?? {}, ...(member === undefined ? {} : { member }) };
  return (
    <PlainLayout ctx={own} shape="wide" signOutAction={signOutAction}>
      <Notice kind="info">{ctx.t(`sandbox.${app}.lead`)}</Notice>
      {app === 'search' ? <SearchApp ctx={own} /> : <MainApp ctx={own} />}
    </PlainLayout>
  );
}
