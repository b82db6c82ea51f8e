import type { HTMLAttributes } from 'react';
import type { PageContext } from '../page-context.ts';
import { Island } from './island.tsx';

export interface DialogProps {
  /** The dialog's own page, of this site. The dialog shows the page's element with `data-lift`. */
  href: string;
  label: string;
  /** For screen readers, after the label: "Edit" alone would be ambiguous. */
  context?: string;
  closeLabel: string;
  /** The page may show something only once: it is not fetched before the click. */
  once?: boolean;
  /** The main action of the page. */
  primary?: boolean;
}

interface LinkState extends Pick<HTMLAttributes<HTMLAnchorElement>, 'onClick' | 'onPointerEnter' | 'onFocus'> {
  busy?: boolean | undefined;
}

export function DialogLinkView(props: DialogProps & LinkState) {
  const { href, label, context, busy, closeLabel: _closeLabel, once: _once, primary, ...on } = props;
  return (
    <a className={`button ${primary ? 'primary' : 'quiet'} small`} href={href} data-hold="" aria-busy={busy} {...on}>
      {label}
      {context !== undefined && <span className="visually-hidden"> {context}</span>}
    </a>
  );
}

/** A link to a form on a page of its own; with scripts, the same form opens in a dialog. */
export function DialogLink({ ctx, ...props }: { ctx: PageContext } & DialogProps) {
  return <Island ctx={ctx} name="dialog" view={DialogLinkView} props={props} />;
}
