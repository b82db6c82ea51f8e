import { FieldFrame, type FieldWords, fieldAttributes } from './field-frame.tsx';
import { Icon } from './icon.tsx';

interface SelectFieldProps extends FieldWords {
  name: string;
  options: readonly { value: string; label: string }[];
  value?: string;
  /** Shown while nothing is chosen; choosing it clears the choice. */
  placeholder?: string;
  autoComplete?: string;
  disabled?: boolean;
}

/** The browser's own list in Foyer's frame. Its id is `field-<name>`. */
export function SelectField(props: SelectFieldProps) {
  const { name, label, error, hint, aside, options, placeholder } = props;
  return (
    <FieldFrame name={name} label={label} error={error} hint={hint} aside={aside}>
      <select
        {...fieldAttributes(name, { error, hint })}
        defaultValue={props.value ?? ''}
        autoComplete={props.autoComplete}
        disabled={props.disabled}
      >
        {placeholder !== undefined && <option value="">{placeholder}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </FieldFrame>
  );
}
