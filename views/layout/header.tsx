import type { PageContext } from '../page-context.ts';
import { Icon } from '../parts/icon.tsx';
import { Brand } from '../parts/mark.tsx';
import { ProfileMenu } from '../parts/profile-menu.tsx';
import { SignOutForm } from '../parts/sign-out-form.tsx';

export type PublicPage = 'signIn' | 'signUp';

/** Search, Login and Sign Up, if they exist, without the link of the present page. */
export const publicLinks = ({ links }: PageContext, at?: PublicPage) =>
  (['search', 'signIn', 'signUp'] as const).filter((name) => name !== at && links[name] !== undefined);

export function PublicNav({ ctx, at, label }: { ctx: PageContext; at?: PublicPage; label?: string }) {
  const { t, links } = ctx;
  const named = publicLinks(ctx, at);
  if (named.length === 0) return null;
  return (
    <nav className="public-nav" aria-label={label ?? t('common.header.label')}>
      <ul>
        {named.map((name) => (
          <li key={name}>
            <a href={links[name]}>{t(`common.header.${name}`)}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface HeaderProps {
  ctx: PageContext;
  signOutAction?: string | undefined;
  /** Only the brand: for pages without a known user. */
  bare?: boolean | undefined;
  /** Beside the brand alone: the button that signs out. */
  signOut?: boolean | undefined;
}

/** Leads to the notifications. Its name has the number of unread ones, which stands on the bell up to 99. */
function NotificationsLink({ ctx: { t, links, unread = 0 } }: { ctx: PageContext }) {
  if (links.notifications === undefined) return null;
  return (
    <a className="header-bell" href={links.notifications}>
      <Icon name="bell" />
      <span className="visually-hidden">
        {unread === 0 ? t('notifications.title') : t('notifications.unread', { count: unread })}
      </span>
      {unread > 0 && (
        <span className="header-bell-count" aria-hidden="true">
          {unread > 99 ? '99+' : unread}
        </span>
      )}
    </a>
  );
}

/** Brand, and for a signed-in user the profile menu, for everyone else the links to sign in. */
export function Header({ ctx, signOutAction = '/logout', bare, signOut }: HeaderProps) {
  const { member } = ctx;
  return (
    <header className="header">
      <Brand brand={ctx.brand} />
      {signOut && <SignOutForm t={ctx.t} />}
      {!bare &&
        (member === undefined ? (
          <PublicNav ctx={ctx} />
        ) : (
          <div className="header-member">
            <NotificationsLink ctx={ctx} />
            <ProfileMenu ctx={ctx} member={member} signOutAction={signOutAction} />
          </div>
        ))}
    </header>
  );
}
