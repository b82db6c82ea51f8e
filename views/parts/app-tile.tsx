import type { PageContext } from '../page-context.ts';
import { AppLogo } from './app-logo.tsx';
import { ButtonLink } from './button.tsx';
import { Chip } from './chip.tsx';

interface AppTileProps {
  ctx: PageContext;
  name: string;
  clientId: string;
  /** The host to which Open leads, or the reason that there is no Open. */
  subtitle?: string | undefined;
  logoUrl?: string | undefined;
  /** The client app's own start address; without one it cannot be opened. */
  href?: string | undefined;
  open: string;
  /** The only tile: its button is the act of the page. */
  isOnly?: boolean;
  /** This user has no access: the text instead of the button, and the page that explains it. */
  limited?: { href: string; label: string; how: string };
}

/** A client app. The whole tile opens it: the area of the link covers it (apps.css). */
export function AppTile({ ctx, name, clientId, subtitle, logoUrl, href, open, isOnly, limited }: AppTileProps) {
  return (
    <li className="app-tile">
      <AppLogo ctx={ctx} clientId={clientId} name={name} logoUrl={logoUrl} />
      <div className="app-words">
        <p className="app-name">
          <bdi>{name}</bdi>
        </p>
        {subtitle !== undefined && <p className="muted small">{subtitle}</p>}
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
        <ButtonLink href={href} kind={isOnly ? 'primary' : 'quiet'} size="small">
          {open}
          <span className="visually-hidden"> {name}</span>
        </ButtonLink>
      )}
    </li>
  );
}
