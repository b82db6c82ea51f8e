/** Password fields get a button that shows what was typed. What is sent and remembered is always a password field. */
for (const button of document.querySelectorAll<HTMLButtonElement>('.reveal')) {
  const input = button.parentElement?.querySelector('input');
  if (!input) continue;
  const reveal = (shown: boolean) => {
    input.type = shown ? 'text' : 'password';
    button.ariaPressed = String(shown);
  };
  button.hidden = false;
  button.onclick = () => reveal(input.type === 'password');
  input.form?.addEventListener('submit', () => reveal(false));
}
