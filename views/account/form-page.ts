import type { PageContext } from '../page-context.ts';
import type { Control } from '../parts/control.ts';
import type { ActionProblem } from './account-action.tsx';

/** A page of the settings with one form, by the names of its fields. */
export interface FormPageProps<Name extends string> {
  ctx: PageContext;
  action: string;
  controls: Record<Name, Control>;
  /** As they were typed. */
  values: Record<Name, string>;
  errors: Partial<Record<Name, string>>;
  problem?: ActionProblem | undefined;
}
