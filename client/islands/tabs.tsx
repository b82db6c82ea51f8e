import { type KeyboardEvent, type MouseEvent, useEffect, useState } from 'react';
import { type TabsProps, TabsView } from '../../views/parts/tabs.tsx';
import { adjacentElement } from '../keys.ts';
import { showPanel } from '../panels.ts';

/** Tabs as in the ARIA practices: one Tab stop, arrow keys move and select; the address follows. */
export default function Tabs(props: TabsProps) {
  const [chosen, setChosen] = useState(props.chosen);
  const [live, setLive] = useState(false);
  useEffect(() => {
    for (const { panel } of props.tabs) {
      const element = document.getElementById(panel);
      element?.setAttribute('role', 'tabpanel');
      element?.setAttribute('aria-labelledby', `${panel}-tab`);
    }
    setLive(true);
  }, [props.tabs]);
  const choose = (panel: string, href: string) => {
    setChosen(panel);
    showPanel(
      props.tabs.map(({ panel }) => panel),
      panel,
    );
    // Without the fragment, which is for browsers that load the page again.
    history.replaceState(history.state, '', href.replace(/#.*/, ''));
  };
  const onClick = (event: MouseEvent, panel: string) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(panel, (event.currentTarget as HTMLAnchorElement).href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const links = [...(event.currentTarget.parentElement?.querySelectorAll('a') ?? [])];
    const next =
      event.key === ' ' ? document.activeElement : adjacentElement(links, event.key, ['ArrowLeft', 'ArrowRight']);
    if (!(next instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    next.focus();
    next.click();
  };
  return <TabsView {...props} chosen={chosen} live={live} onClick={onClick} onKeyDown={onKeyDown} />;
}
