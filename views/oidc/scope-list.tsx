import type { PageContext } from '../page-context.ts';
import { Icon } from '../parts/icon.tsx';
import type { ScopeText } from './scope-texts.ts';

interface ScopeListProps {
  ctx: PageContext;
  scopes: readonly ScopeText[];
  /** The labels alone, several beside each other; far-reaching access keeps its explanation. */
  short?: boolean;
}

/** The access of a client app, point by point; far-reaching access has a mark of its own. */
export function ScopeList({ ctx: { t }, scopes, short = false }: ScopeListProps) {
  return (
    <ul className={short ? 'rights short' : 'rights'}>
      {scopes.map(({ name, isPowerful, label, detail }) => (
        <li key={name} className={isPowerful ? 'powerful' : undefined}>
          <Icon name={isPowerful ? 'alert' : 'tick'} />
          <div>
            {isPowerful && <span className="visually-hidden">{t('oauth.scopes.powerful')} </span>}
            <strong>{label}</strong>
            {(!short || isPowerful) && <span>{detail}</span>}
          </div>
        </li>
      ))}
    </ul>
  );
}
