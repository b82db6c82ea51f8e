/**
 * Shows the page's own dialog as a modal one on narrow screens: the browser keeps the focus in it, and Escape or its
 * close button lead to the closing address. Without this script, and beside the picture of wide screens
 * (`client/styles/auth.css`), it has the place of the form.
 */
const dialog = document.querySelector<HTMLDialogElement>('dialog[data-modal]');
const backdrop = document.querySelector<HTMLElement>('[data-behind]');

if (dialog && backdrop && matchMedia('(width < 900px)').matches) {
  const typing = dialog.contains(document.activeElement) ? document.activeElement : null;
  backdrop.hidden = false;
  // Not `close()`: that fires the close event.
  dialog.removeAttribute('open');
  dialog.showModal();
  // Keeps the focus of a field that the user is already typing in.
  if (typing instanceof HTMLElement) typing.focus();
  dialog.addEventListener('close', () => location.assign(dialog.dataset.modal ?? '/'));
}
