import type { KeyboardEvent, MouseEvent } from 'react';
import type { PageContext } from '../page-context.ts';
import { Island } from './island.tsx';

export interface TabsProps {
  label: string;
  /** `panel` is the id of the tab's panel, `href` the address of the page with this panel. */
  tabs: Array<{ panel: string; label: string; href: string }>;
  /** The id of the shown panel; the page renders the others `hidden`. */
  chosen: string;
}

interface TabsHandlers {
  /** Scripts run: these are tabs, no longer links. */
  live?: boolean;
  onClick?: (event: MouseEvent, panel: string) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}

export function TabsView({ label, tabs, chosen, live = false, onClick, onKeyDown }: TabsProps & TabsHandlers) {
  const links = tabs.map(({ panel, label, href }) => {
    const current = panel === chosen;
    const tab = { role: 'tab', 'aria-selected': current, 'aria-controls': panel, tabIndex: current ? 0 : -1 } as const;
    return (
      <a
        key={panel}
        id={`${panel}-tab`}
        href={href}
        data-hold=""
        onClick={onClick && ((event) => onClick(event, panel))}
        onKeyDown={onKeyDown}
        {...(live ? tab : { 'aria-current': current ? ('page' as const) : undefined })}
      >
        {label}
      </a>
    );
  });
  return (
    <nav aria-label={label}>
      <div className="tabs" {...(live && { role: 'tablist', 'aria-label': label })}>
        {links}
      </div>
    </nav>
  );
}

/** Tabs over panels of the page. Without scripts they are links to the same page with another panel. */
export function Tabs({ ctx, ...props }: { ctx: PageContext } & TabsProps) {
  return <Island ctx={ctx} name="tabs" view={TabsView} props={props} />;
}
