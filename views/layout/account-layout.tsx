import type { ReactNode } from 'react';
import type { T } from '../../locales/index.ts';
import type { PageContext } from '../page-context.ts';
import { Breadcrumb } from '../parts/breadcrumb.tsx';
import { accountPlaces } from '../parts/profile-menu.tsx';
import { SideMenu } from '../parts/side-menu.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { PlainLayout } from './plain-layout.tsx';

type AccountPage = (typeof accountPlaces)[number];

/** The specification's text here is Team, in the profile menu Teams. */
const pageLabel = (t: T, place: AccountPage) => t(place === 'teams' ? 'common.menu.team' : `common.menu.${place}`);

/** Account settings: breadcrumb and heading on top, the menu of settings beside, cards in the middle. */
export function AccountLayout(props: {
  ctx: PageContext;
  at: AccountPage;
  heading: string;
  /** One line below the heading. */
  lead?: string;
  /** The name of a page below that place. */
  below?: string;
  /** Between heading and cards, for example a notice. */
  before?: ReactNode;
  /** One action, without the side menu on phones. */
  action?: boolean;
  children: ReactNode;
}) {
  const { ctx, at, heading, lead, below, before, action, children } = props;
  const { t, links } = ctx;
  if (ctx.isPart) return children;
  const account = t('common.menu.account');
  const context = links[at];
  const path = [
    { label: account },
    { label: pageLabel(t, at), ...(context !== undefined && { href: context }) },
    ...(below === undefined ? [] : [{ label: below }]),
  ];
  return (
    <PlainLayout ctx={ctx} shape="wide" subHeader={{ backHref: links.dashboard }}>
      {/* Each page can open a step of an enrolment in a dialog. */}
      <Stylesheet ctx={ctx} name="enrolment" />
      <div className="page-head">
        <Breadcrumb label={t('common.breadcrumb')} path={path} />
        <h1>{heading}</h1>
        {lead !== undefined && <p className="muted">{lead}</p>}
      </div>
      <div className={action ? 'beside action' : 'beside'}>
        <SideMenu
          // The profile menu has the name of the settings.
          label={t('common.menu.pages')}
          links={accountPlaces.map((name) => ({
            href: links[name],
            label: pageLabel(t, name),
            current: name === at,
          }))}
        />
        <div className="stack">
          {before}
          {children}
        </div>
      </div>
    </PlainLayout>
  );
}
