import { useEffect, useRef, useState } from 'react';
import { type CodeInputProps, CodeInputView } from '../../views/parts/code-input.tsx';

/**
 * Keeps only digits, at most the length of the code, and blocks the form until the code is complete (specification,
 * section 5).
 */
export default function CodeInput(props: CodeInputProps) {
  const { length, incomplete } = props;
  const [error, setError] = useState(props.error);
  const input = useRef<HTMLInputElement>(null);
  const tidy = () => {
    const field = input.current;
    if (!field) return;
    const digits = field.value.replace(/\D/g, '').slice(0, length);
    if (digits !== field.value) {
      // Keeps the caret in its place; otherwise a digit in the middle would move it to the end.
      const before = field.value.slice(0, field.selectionStart ?? undefined).replace(/\D/g, '').length;
      field.value = digits;
      field.setSelectionRange(before, before);
    }
    if (digits.length === length) setError(undefined);
  };
  useEffect(() => {
    const field = input.current;
    // Input from before the hydration.
    if (field?.value) field.value = field.value.replace(/\D/g, '').slice(0, length);
    const form = field?.form;
    const hold = (event: SubmitEvent) => {
      if (field?.value.length === length) return;
      event.preventDefault();
      setError(incomplete);
      field?.focus();
    };
    form?.addEventListener('submit', hold);
    return () => form?.removeEventListener('submit', hold);
  }, [length, incomplete]);
  return <CodeInputView {...props} error={error} input={input} onInput={tidy} />;
}
