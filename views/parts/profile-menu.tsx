import type { DetailsHTMLAttributes, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';
import { Island } from './island.tsx';

export interface ProfileMenuProps {
  name: string;
  initials: string;
  /** Address of the member's picture. */
  imageUrl?: string;
  /** What the button is called for those who do not see it. */
  label: string;
  groups: Array<{ title?: string; links: Array<{ href: string; label: string }> }>;
  /** Signing out is an act: a form. */
  signOut: { action: string; label: string };
}

interface Live {
  menu?: Ref<HTMLDetailsElement>;
  on?: Pick<
    DetailsHTMLAttributes<HTMLDetailsElement>,
    'onBlur' | 'onClick' | 'onKeyDown' | 'onPointerEnter' | 'onPointerLeave' | 'onToggle'
  >;
}

/** A list of links behind the member's picture: native `details`, so that it opens without scripts too. */
export function ProfileMenuView(props: ProfileMenuProps & Live) {
  const { name, initials, imageUrl, label, groups, signOut, menu, on } = props;
  return (
    <details className="menu" ref={menu} {...on} suppressHydrationWarning>
      <summary className="menu-button">
        <span className="visually-hidden">{label}</span>
        <span className="avatar" aria-hidden="true">
          {imageUrl === undefined ? initials : <img src={imageUrl} alt="" width={36} height={36} />}
        </span>
        <span className="header-name">{name}</span>
      </summary>
      <div className="menu-list">
        {groups.map(({ title, links }) => (
          <div className="menu-group" key={links[0]?.href}>
            {title !== undefined && <p className="menu-title">{title}</p>}
            <ul>
              {links.map(({ href, label }) => (
                <li key={href}>
                  <a href={href}>{label}</a>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <form method="post" action={signOut.action}>
          <Button kind="quiet" size="small" block>
            {signOut.label}
          </Button>
        </form>
      </div>
    </details>
  );
}

export function ProfileMenu({ ctx, ...props }: { ctx: PageContext } & ProfileMenuProps) {
  return <Island ctx={ctx} name="profile-menu" view={ProfileMenuView} props={props} />;
}
