/**
 * The field for the code of a device: capitals and the dash, however the code is typed or pasted. The server reads it
 * in every form.
 */
const field = document.querySelector<HTMLInputElement>('.device-input');

const toCode = (text: string): string => {
  const letters = text
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .slice(0, 8);
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters;
};

function tidy(): void {
  if (!field) return;
  const { value, selectionStart } = field;
  const code = toCode(value);
  if (code === value) return;
  // Otherwise a letter in the middle would move the caret to the end.
  const caret = toCode(value.slice(0, selectionStart ?? undefined)).length;
  field.value = code;
  if (document.activeElement === field) field.setSelectionRange(caret, caret);
}

field?.addEventListener('input', (event) => {
  // An input method replaces the text that it composes.
  if (!('isComposing' in event && event.isComposing)) tidy();
});
field?.addEventListener('compositionend', tidy);
tidy();

export {};
