import { ButtonLink } from './button.tsx';
import { Chip } from './chip.tsx';
import { Mark } from './mark.tsx';

export interface AppTileProps {
  name: string;
  /** The client id. */
  subtitle: string;
  logoUrl?: string | undefined;
  /** The client app's own start address; without one it cannot be opened. */
  href?: string | undefined;
  open: string;
  /** This user has no access: the text instead of the button, and the page that explains it. */
  limited?: { href: string; label: string; how: string };
}

/** A client app. Behind its logo is Foyer's own sign, which shows if there is no logo or it does not load. */
export function AppTile({ name, subtitle, logoUrl, href, open, limited }: AppTileProps) {
  return (
    <li className="app-tile">
      <span className="app-logo" aria-hidden="true">
        <Mark />
        {logoUrl !== undefined && <img src={logoUrl} alt="" loading="lazy" />}
      </span>
      <div className="app-words">
        <h2>{name}</h2>
        <p className="muted small">{subtitle}</p>
        {limited !== undefined && (
          <p className="app-limited small">
            <Chip tone="warn">{limited.label}</Chip>{' '}
            <a className="unbroken" href={limited.href}>
              {limited.how}
              <span className="visually-hidden"> {name}</span>
            </a>
          </p>
        )}
      </div>
      {href !== undefined && limited === undefined && (
        <ButtonLink href={href} kind="quiet" size="small">
          {open}
          <span className="visually-hidden"> {name}</span>
        </ButtonLink>
      )}
    </li>
  );
}
