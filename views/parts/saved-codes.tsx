import type { Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';
import { Island } from './island.tsx';

export interface SavedCodesProps {
  /** The name of the box. */
  saved: string;
  next: string;
  /** Asked before the page or its dialog is left while the box is not ticked. */
  question: string;
}

interface SavedCodesHandlers {
  box?: Ref<HTMLInputElement>;
}

export function SavedCodesView({ saved, next, box }: SavedCodesProps & SavedCodesHandlers) {
  return (
    <div className="form">
      <label className="checkbox">
        <input className="tick" type="checkbox" required ref={box} />
        <span>{saved}</span>
      </label>
      <Button block>{next}</Button>
    </div>
  );
}

/**
 * The end of a form below codes that cannot be shown again: a box that must be ticked before the form leads on.
 */
export function SavedCodes({ ctx, ...props }: { ctx: PageContext } & SavedCodesProps) {
  return <Island ctx={ctx} name="saved-codes" load="idle" view={SavedCodesView} props={props} />;
}
