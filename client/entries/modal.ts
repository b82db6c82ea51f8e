/**
 * Makes the page's own dialog a modal one over what stands behind it: the browser keeps the focus in it, and Escape or its
 * cross leads where closing leads. Without this script it is the page.
 */
const dialog = document.querySelector<HTMLDialogElement>('dialog[data-modal]');
const backdrop = document.querySelector<HTMLElement>('[data-behind]');

if (dialog && backdrop) {
  const typing = dialog.contains(document.activeElement) ? document.activeElement : null;
  backdrop.hidden = false;
  // Not `close()`: that tells of a closing.
  dialog.removeAttribute('open');
  dialog.showModal();
  // Where somebody was typing already, they go on.
  if (typing instanceof HTMLElement) typing.focus();
  dialog.addEventListener('close', () => location.assign(dialog.dataset.modal ?? '/'));
}
