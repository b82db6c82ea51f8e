/** Follows the link of an element with `data-redirect` after as many milliseconds; users can click it earlier. */
const element = document.querySelector<HTMLElement>('[data-redirect]');
const href = element?.querySelector('a')?.href;

if (href) setTimeout(() => location.replace(href), Number(element?.dataset.redirect));
