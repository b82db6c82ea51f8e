/**
 * Hydrates the islands of a page (`views/parts/island.tsx`): loads Preact and an island's code when the user first
 * interacts with it, or when the browser is idle if it has `data-load="idle"`. A click meanwhile is repeated
 * afterwards.
 */
import type { ComponentType } from 'react';

const islands = import.meta.glob<{ default: ComponentType }>('./islands/*.tsx');
const page = document.documentElement;
const waking = new WeakMap<Element, Promise<unknown>>();

async function hydrate(island: HTMLElement): Promise<void> {
  const { island: name, props = '{}' } = island.dataset;
  try {
    const [root, code] = await Promise.all([import('./root.ts'), islands[`./islands/${name}.tsx`]?.()]);
    if (code) root.hydrate(island, code.default, JSON.parse(props));
  } catch {
    // An old page after an update, or no network: the page keeps working without scripts.
    page.classList.remove('scripted');
  }
  island.dataset.awake = '';
}

function wake(island: HTMLElement): Promise<unknown> {
  const done = waking.get(island) ?? hydrate(island);
  waking.set(island, done);
  return done;
}

function touched(event: Event): void {
  const { target } = event;
  const island = target instanceof Element && target.closest<HTMLElement>('[data-island]');
  if (!island || 'awake' in island.dataset) return;
  island.dataset.by = event.type;
  const woken = wake(island);
  const control = target.closest<HTMLElement>('button[type=button], [data-hold]');
  const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
  if (event.type !== 'click' || !control || ctrlKey || metaKey || shiftKey) return;
  event.preventDefault();
  woken.then(() => control.click());
}

for (const type of ['pointerover', 'focusin', 'keydown', 'input', 'click'])
  document.addEventListener(type, touched, true);

/** A timeout for devices that are never idle: the user waits for the card form. */
const latestMs = 500;
const whenIdle = (run: () => void) =>
  'requestIdleCallback' in window ? requestIdleCallback(run, { timeout: latestMs }) : setTimeout(run, latestMs / 2);
const wakeIdle = () =>
  whenIdle(() => {
    for (const island of document.querySelectorAll<HTMLElement>('[data-load=idle]')) wake(island);
  });
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', wakeIdle);
else wakeIdle();

page.classList.add('scripted');
