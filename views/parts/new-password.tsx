import type { FormEventHandler, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Field } from './field.tsx';
import type { FieldWords } from './field-frame.tsx';
import { Island } from './island.tsx';
import type { PersonalData, Strength } from './password-strength.ts';
import { RevealView } from './reveal.tsx';
import { StrengthChecklist, type StrengthWords, strengthWords } from './strength-checklist.tsx';

interface NewPasswordProps extends Pick<FieldWords, 'label' | 'error' | 'hint'> {
  name: string;
  /** The names of the same form's fields that the password must not contain, if there are such fields. */
  fields?: Partial<Record<keyof PersonalData, string>>;
  /** The same if the values are already known. */
  known?: Partial<PersonalData>;
  autoFocus?: boolean;
}

/** With its texts, for the browser. */
export interface NewPasswordViewProps extends NewPasswordProps {
  labels: StrengthWords & { show: string };
}

interface NewPasswordHandlers {
  /** The rules that the typed password meets. */
  met?: Strength | undefined;
  isVisible?: boolean;
  onReveal?: () => void;
  input?: Ref<HTMLInputElement>;
  onInput?: FormEventHandler<HTMLInputElement>;
}

export function NewPasswordView(props: NewPasswordViewProps & NewPasswordHandlers) {
  const { name, label, error, hint, met, autoFocus, labels, isVisible, onReveal, input, onInput } = props;
  const listId = `field-${name}-strength`;
  return (
    <div className="new-password">
      <Field
        name={name}
        label={label}
        error={error}
        hint={hint}
        describedBy={listId}
        type="password"
        autoComplete="new-password"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus={autoFocus}
        ref={input}
        onInput={onInput}
        inside={
          <RevealView
            controls={`field-${name}`}
            label={labels.show}
            isVisible={isVisible ?? false}
            onClick={onReveal}
          />
        }
      />
      <StrengthChecklist labels={labels} id={listId} met={met} />
    </div>
  );
}

/**
 * The field for a new password with its checklist. With scripts, the list follows the input, and a button shows it; the
 * server enforces the same rule without them.
 */
export function NewPassword({ ctx, ...props }: { ctx: PageContext } & NewPasswordProps) {
  const labels = { ...strengthWords(ctx.t), show: ctx.t('common.showPassword') };
  return <Island ctx={ctx} name="new-password" view={NewPasswordView} props={{ ...props, labels }} />;
}
