import { Icon } from './icon.tsx';

interface ErrorSummaryProps<Name extends string> {
  title: string;
  /** Of all fields of the form. */
  labels: Record<Name, string>;
  /** Those with errors, in their order. */
  fields: readonly Name[];
}

/** The fields with errors above a form, each a link to `#field-<name>`. */
export function ErrorSummary<Name extends string>({ title, labels, fields }: ErrorSummaryProps<Name>) {
  if (fields.length === 0) return null;
  return (
    <div className="error-summary">
      <p>
        <Icon name="alert" />
        {title}
      </p>
      <ul>
        {fields.map((name) => (
          <li key={name}>
            <a href={`#field-${name}`}>{labels[name]}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}
