/**
 * Filters the tiles of the dashboard while the user types, as the form of the search does; the form still works. The
 * same rule as the server's: every word, in any order, without case and accents.
 */
const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
const input = document.querySelector<HTMLInputElement>('.search [name=q]');
const tiles = [...document.querySelectorAll<HTMLElement>('.app-tile')];
const status = document.querySelector<HTMLElement>('[data-filter-status]');

input?.addEventListener('input', () => {
  const words = plain(input.value).split(/\s+/).filter(Boolean);
  let count = 0;
  for (const tile of tiles) {
    const text = plain(tile.querySelector('.app-name')?.textContent ?? '');
    tile.hidden = !words.every((word) => text.includes(word));
    if (!tile.hidden) count += 1;
  }
  if (status) status.textContent = (status.dataset.filterStatus ?? '').replace('%', String(count));
});

export {};
