import type { PageContext } from '../page-context.ts';
import { Island } from './island.tsx';

export interface PrintButtonProps {
  label: string;
}

export function PrintButtonView({ label, onClick }: PrintButtonProps & { onClick?: () => void }) {
  return (
    <button type="button" className="button quiet small needs-script" onClick={onClick}>
      {label}
    </button>
  );
}

/** Prints the page. Without scripts users use the browser's own menu. */
export function PrintButton({ ctx, ...props }: { ctx: PageContext } & PrintButtonProps) {
  return <Island ctx={ctx} name="print-button" view={PrintButtonView} props={props} />;
}
