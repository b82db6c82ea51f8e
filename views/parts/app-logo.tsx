import type { PageContext } from '../page-context.ts';
import { Stylesheet } from './stylesheet.tsx';

const hues = 12;

/** The same for a client app everywhere: FNV-1a of its id. */
function toHue(clientId: string): number {
  let hash = 0x811c9dc5;
  for (const char of clientId) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash % hues;
}

/** The first letter or digit that people see. */
const toInitial = (name: string): string => /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '·';

/**
 * A client app's logo. Behind it is the initial of the app's name on a color of its own, which shows if there is no logo
 * or it does not load.
 */
export function AppLogo(props: {
  ctx: PageContext;
  clientId: string;
  name: string;
  logoUrl?: string | undefined;
  size?: 'large';
}) {
  const { ctx, clientId, name, logoUrl, size } = props;
  return (
    <span className={`app-logo hue-${toHue(clientId)}${size === undefined ? '' : ' large'}`} aria-hidden="true">
      <Stylesheet ctx={ctx} name="apps" />
      <span className="app-initial">{toInitial(name)}</span>
      {logoUrl !== undefined && <img src={logoUrl} alt="" loading="lazy" />}
    </span>
  );
}
