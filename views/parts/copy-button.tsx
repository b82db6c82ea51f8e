import type { PageContext } from '../page-context.ts';
import { Icon } from './icon.tsx';
import { Island } from './island.tsx';

export interface CopyButtonProps {
  /** The id of the element whose text is copied; undefined: the page is printed. */
  source?: string;
  label: string;
  /** Replaces the label for a while after copying. */
  doneLabel?: string;
}

export function CopyButtonView(props: CopyButtonProps & { done?: boolean; onClick?: () => void }) {
  const { label, doneLabel, done = false, onClick } = props;
  return (
    <button type="button" className="button quiet small needs-script" onClick={onClick}>
      {done && <Icon name="tick" />}
      <span aria-live="polite">{done ? doneLabel : label}</span>
    </button>
  );
}

/** Prints the page: of the same island, since each one more is known to every page. Without scripts the browser's menu does. */
export function PrintButton({ ctx, label }: { ctx: PageContext; label: string }) {
  return <Island ctx={ctx} name="copy-button" view={CopyButtonView} props={{ label }} />;
}

/** Copies another element of the page. Without scripts users select it by hand. */
export function CopyButton({ ctx, ...props }: { ctx: PageContext } & CopyButtonProps) {
  return <Island ctx={ctx} name="copy-button" view={CopyButtonView} props={props} />;
}
