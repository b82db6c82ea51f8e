import type { PageContext } from '../page-context.ts';
import { ErrorSummary } from './error-summary.tsx';

/** With a single error the focus is in its field, which is enough. */
export const hasErrorSummary = (errors: Readonly<Record<string, string | undefined>>): boolean =>
  Object.values(errors).filter((error) => error !== undefined).length > 1;

interface FormErrorsProps<Name extends string> {
  ctx: PageContext;
  /** Of all fields of the form, in their order. */
  labels: Readonly<Record<Name, string>>;
  controls: Readonly<Record<Name, { name: string }>>;
  errors: Readonly<Partial<Record<Name, string>>>;
}

/** Above a form that was refused for several fields: the page begins there, with links to the fields. */
export function FormErrors<Name extends string>({ ctx, labels, controls, errors }: FormErrorsProps<Name>) {
  if (!hasErrorSummary(errors)) return null;
  const refused = (Object.keys(labels) as Name[]).filter((name) => errors[name] !== undefined);
  return (
    // biome-ignore lint/a11y/noAutofocus: screen readers read what is wrong before the first field
    <div className="form-errors" tabIndex={-1} autoFocus>
      <ErrorSummary
        title={ctx.t('common.checkFields')}
        labels={Object.fromEntries(refused.map((name) => [controls[name].name, labels[name]]))}
        fields={refused.map((name) => controls[name].name)}
      />
    </div>
  );
}
