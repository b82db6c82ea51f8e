import type { FormEventHandler, ReactNode, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { codeControl } from './control.ts';
import { FieldFrame, type FieldWords, fieldAttributes } from './field-frame.tsx';
import { Island } from './island.tsx';

export interface CodeInputProps extends Omit<FieldWords, 'aside'> {
  name: string;
  /** Number of digits: the stylesheet draws six cells (specification, section 9). */
  length: 6;
  /** The error for fewer digits. */
  incomplete: string;
  value?: string;
  disabled?: boolean;
  autoFocus?: boolean;
}

type CodeInputHandlers = { input?: Ref<HTMLInputElement>; onInput?: FormEventHandler<HTMLInputElement> };

/**
 * One field for a one-time code: phones offer the code from the message, screen readers read one field, and a paste may
 * have spaces. The cells are drawn behind it.
 */
export function CodeInputView(props: CodeInputProps & CodeInputHandlers) {
  const { name, label, error, hint, value, disabled, autoFocus, input, onInput } = props;
  return (
    <FieldFrame name={name} label={label} error={error} hint={hint}>
      <div className="framed code-frame">
        <input
          {...fieldAttributes(name, { error, hint })}
          className="code"
          {...codeControl}
          defaultValue={value}
          disabled={disabled}
          // biome-ignore lint/a11y/noAutofocus: the field is what the page is for
          autoFocus={autoFocus}
          ref={input}
          onInput={onInput}
        />
      </div>
    </FieldFrame>
  );
}

/** With scripts, only digits stay and only a complete code is sent; the server enforces the same without them. */
export function CodeInput({ ctx, ...props }: { ctx: PageContext } & CodeInputProps) {
  return <Island ctx={ctx} name="code-input" view={CodeInputView} props={props} />;
}

interface CodeFormProps extends Pick<CodeInputProps, 'label' | 'incomplete' | 'value' | 'error' | 'hint'> {
  ctx: PageContext;
  action: string;
  /** Below the code: at least the button. */
  children: ReactNode;
}

/** The form of a one-time code, which is the first thing on its page. */
export function CodeForm({ ctx, action, children, label, incomplete, ...texts }: CodeFormProps) {
  return (
    <form className="form" method="post" action={action} noValidate>
      <CodeInput ctx={ctx} name="code" label={label} length={6} incomplete={incomplete} {...texts} autoFocus />
      {children}
    </form>
  );
}
