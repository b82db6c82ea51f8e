import type { DetailsHTMLAttributes, Ref } from 'react';
import type { LinkName, PageContext, PageUser } from '../page-context.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { Island } from './island.tsx';

interface MenuGroup {
  label: string;
  /** The label is shown too. */
  titled: boolean;
  links: { href: string; label: string }[];
}

export interface ProfileMenuProps {
  member: PageUser;
  /** The accessible name of the button; the user's name follows. */
  label: string;
  groups: MenuGroup[];
  /** Logout is an action: a form. */
  signOut: { action: string; label: string };
}

interface MenuHandlers {
  menu?: Ref<HTMLDetailsElement>;
  on?: Pick<
    DetailsHTMLAttributes<HTMLDetailsElement>,
    'onBlur' | 'onClick' | 'onKeyDown' | 'onPointerEnter' | 'onPointerLeave' | 'onToggle'
  >;
}

/** A list of links behind the user's picture: native `details`, so that it opens without scripts too. */
export function ProfileMenuView({ member, label, groups, signOut, menu, on }: ProfileMenuProps & MenuHandlers) {
  return (
    <details className="menu" ref={menu} {...on} suppressHydrationWarning>
      <summary>
        <Avatar member={member} />
        <span className="visually-hidden">{`${label} ${member.name}`}</span>
        <span className="menu-name" dir="auto" aria-hidden="true">
          {member.name}
        </span>
        <Icon name="down" />
      </summary>
      <div className="menu-panel">
        <p className="menu-who">
          <strong dir="auto">{member.name}</strong>
          <span>{member.email}</span>
        </p>
        {groups.map(({ label, titled, links }) => (
          <nav key={label} aria-label={label}>
            {titled && (
              <p className="menu-title" aria-hidden="true">
                {label}
              </p>
            )}
            <ul>
              {links.map(({ href, label }) => (
                <li key={href}>
                  <a href={href}>{label}</a>
                </li>
              ))}
            </ul>
          </nav>
        ))}
        <form method="post" action={signOut.action}>
          <button type="submit">{signOut.label}</button>
        </form>
      </div>
    </details>
  );
}

const marketplace = ['dashboard', 'search', 'showcasePages', 'shortlist'] as const satisfies readonly LinkName[];
export const accountPlaces = [
  'profile',
  'wallet',
  'teams',
  'membership',
  'paymentMethods',
  'security',
  'notifications',
] as const satisfies readonly LinkName[];

type MenuLinkName = (typeof marketplace)[number] | (typeof accountPlaces)[number];

/** The links that have an address, with their texts. */
function menuLinks({ t, links }: PageContext, names: readonly MenuLinkName[]) {
  return names.flatMap((name) => {
    const href = links[name];
    return href === undefined ? [] : { href, label: t(`common.menu.${name}`) };
  });
}

/** The links to the user's pages in the marketplace's apps and here, if they exist, and Logout. */
export function ProfileMenu(props: { ctx: PageContext; member: PageUser; signOutAction: string }) {
  const { ctx, member, signOutAction } = props;
  const { t } = ctx;
  const groups = [
    { label: t('common.menu.marketplace'), titled: false, links: menuLinks(ctx, marketplace) },
    { label: t('common.menu.account'), titled: true, links: menuLinks(ctx, accountPlaces) },
  ].filter(({ links }) => links.length > 0);
  const own = {
    member,
    label: t('common.menu.open'),
    groups,
    signOut: { action: signOutAction, label: t('common.header.logout') },
  };
  return <Island ctx={ctx} name="profile-menu" view={ProfileMenuView} props={own} />;
}
