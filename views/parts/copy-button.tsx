import type { PageContext } from '../page-context.ts';
import { Icon } from './icon.tsx';
import { Island } from './island.tsx';

export interface CopyButtonProps {
  /** The id of the element whose text is copied. */
  source: string;
  label: string;
  /** Stands in the label's place for a while once it is done. */
  doneLabel: string;
}

export function CopyButtonView(props: CopyButtonProps & { done?: boolean; onClick?: () => void }) {
  const { label, doneLabel, done = false, onClick } = props;
  return (
    <button type="button" className="button quiet small copy needs-script" onClick={onClick}>
      {done && <Icon name="tick" />}
      <span aria-live="polite">{done ? doneLabel : label}</span>
    </button>
  );
}

/** Copies what stands elsewhere on the page. Without scripts one selects it by hand. */
export function CopyButton({ ctx, ...props }: { ctx: PageContext } & CopyButtonProps) {
  return <Island ctx={ctx} name="copy-button" view={CopyButtonView} props={props} />;
}
