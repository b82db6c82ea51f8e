import { Icon } from './icon.tsx';

interface SideMenuLink {
  href: string | undefined;
  label: string;
  current?: boolean;
}

/**
 * The pages of one area; up to 767 px above the content, behind the name of the present page, which opens the list
 * without a script. Pages without an address are omitted.
 */
export function SideMenu({ label, links }: { label: string; links: readonly SideMenuLink[] }) {
  return (
    <nav className="side-menu" aria-label={label}>
      <details>
        <summary>
          <span className="visually-hidden">{label}: </span>
          {links.find(({ current }) => current)?.label ?? label}
          <Icon name="down" />
        </summary>
      </details>
      <ul>
        {links.map(
          (link) =>
            link.href !== undefined && (
              <li key={link.href}>
                <a href={link.href} aria-current={link.current ? 'page' : undefined}>
                  {link.label}
                </a>
              </li>
            ),
        )}
      </ul>
    </nav>
  );
}
