import { useEffect, useRef, useState } from 'react';
import { autoSubmitId, type CodeInputProps, CodeInputView } from '../../views/parts/code-input.tsx';

/** Removes what is no digit, and digits beyond the length. */
function tidy(field: HTMLInputElement, length: number): void {
  const digits = field.value.replace(/\D/g, '').slice(0, length);
  if (digits === field.value) return;
  // Keeps the caret in its place; otherwise a digit in the middle would move it to the end.
  const before = field.value.slice(0, field.selectionStart ?? undefined).replace(/\D/g, '').length;
  field.value = digits;
  if (document.activeElement === field) field.setSelectionRange(before, before);
}

/**
 * Keeps only digits, at most the length of the code, and blocks the form until the code is complete (specification,
 * section 5). The last digit sends a form that asks for nothing else, once; after a correction the button sends it.
 */
export default function CodeInput(props: CodeInputProps) {
  const { length, incomplete, autoSubmit } = props;
  const [error, setError] = useState(props.error);
  const [isLive, setIsLive] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const field = input.current;
    if (!field) return;
    const isWhole = () => field.value.length === length;
    let wasWhole = false;
    const typed = () => {
      tidy(field, length);
      if (!isWhole()) return;
      setError(undefined);
      if (!wasWhole && autoSubmit) field.form?.requestSubmit();
      wasWhole = true;
    };
    const hold = (event: SubmitEvent) => {
      if (isWhole()) return;
      event.preventDefault();
      setError(incomplete);
      field.focus();
    };
    const { form } = field;
    field.addEventListener('input', typed);
    form?.addEventListener('submit', hold);
    // Input from before the hydration. A code that the server or the browser's history has filled in is not sent.
    if (!field.closest('[data-by=input]')) {
      tidy(field, length);
      wasWhole = isWhole();
    }
    typed();
    setIsLive(true);
    // As the mail program and the phone show it.
    const sent = field.closest('.code-field')?.querySelector('time');
    const { lang } = document.documentElement;
    if (sent) sent.textContent = new Date(sent.dateTime).toLocaleTimeString(lang, { timeStyle: 'short' });
    return () => {
      field.removeEventListener('input', typed);
      form?.removeEventListener('submit', hold);
    };
  }, [length, incomplete, autoSubmit]);
  return (
    <CodeInputView
      {...props}
      error={error}
      input={input}
      describedBy={isLive && autoSubmit ? autoSubmitId(props.name) : undefined}
    />
  );
}
