/** Follows the link of an element with `data-go-on` after as many milliseconds; users can click it earlier. */
const element = document.querySelector<HTMLElement>('[data-go-on]');
const href = element?.querySelector('a')?.href;

if (href) setTimeout(() => location.replace(href), Number(element?.dataset.goOn));
