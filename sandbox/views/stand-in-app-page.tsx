import { AccountLayout } from '../../views/layout/account-layout.tsx';
import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { Button } from '../../views/parts/button.tsx';
import { Card } from '../../views/parts/card.tsx';
import { Chip } from '../../views/parts/chip.tsx';
import { Icon } from '../../views/parts/icon.tsx';
import { Notice } from '../../views/parts/notice.tsx';
import { textsFor } from '../texts.ts';

interface StandInAppPageProps {
  ctx: PageContext;
  app: 'search' | 'main' | 'account';
}

const showcases = [
  { key: 'photo', name: 'Studio Brandt', place: 'Hamburg' },
  { key: 'coffee', name: 'Café Lumen', place: 'Antwerpen' },
  { key: 'wood', name: 'Atelier Noyer', place: 'Lyon' },
  { key: 'print', name: 'Hawthorn Press', place: 'Bristol' },
  { key: 'travel', name: 'Nachtlijn', place: 'Utrecht' },
  { key: 'garden', name: 'Grünwerk', place: 'Wien' },
] as const;

/** Their ids are the targets of the header's links. */
const mainTiles = ['showcasePages', 'shortlist'] as const;
const accountCards = ['profile', 'wallet', 'teams', 'membership', 'paymentMethods'] as const;

function SearchApp({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const { member } = ctx;
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
            <Chip>{place}</Chip>
          </li>
        ))}
      </ul>
    </>
  );
}

function MainApp({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  return (
    <>
      <h1>{t('sandbox.main.title')}</h1>
      <ul className="tiles">
        {mainTiles.map((name) => (
          <li className="tile" key={name} id={name}>
            <h2>{t(`common.menu.${name}`)}</h2>
            <p className="muted small">{t('sandbox.nothing')}</p>
          </li>
        ))}
      </ul>
      <p className="small further">
        <a href="/sandbox/parts">{t('sandbox.parts')}</a>
        <a href="/docs/api">{t('sandbox.api')}</a>
      </p>
    </>
  );
}

function AccountApp({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  return (
    <AccountLayout
      ctx={ctx}
      at="profile"
      heading={t('sandbox.account.title')}
      before={<Notice kind="info">{t('sandbox.account.lead')}</Notice>}
    >
      {accountCards.map((name) => (
        <Card key={name} id={name} title={t(`common.menu.${name}`)}>
          <p className="muted small">{t('sandbox.nothing')}</p>
        </Card>
      ))}
    </AccountLayout>
  );
}

/** Replaces one of the marketplace's own apps if none is configured. */
export function StandInAppPage({ ctx, app }: StandInAppPageProps) {
  if (app === 'account') return <AccountApp ctx={ctx} />;
  return (
    <PlainLayout
      ctx={ctx}
      shape="wide"
      subHeader={app === 'main' ? { at: 'dashboard' } : { backHref: ctx.links.dashboard }}
    >
      <Notice kind="info">{textsFor(ctx)(`sandbox.${app}.lead`)}</Notice>
      {app === 'search' ? <SearchApp ctx={ctx} /> : <MainApp ctx={ctx} />}
    </PlainLayout>
  );
}
