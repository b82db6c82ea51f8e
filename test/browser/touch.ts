import type { Page } from 'playwright-core';
import { debuggerOf, heightPx } from '../support/chromium.ts';

/** A finger's target (WCAG 2.2, 2.5.5), and a window of 1280×1024 px at a zoom of 400 % (1.4.10). */
const touchTargetPx = 44;
const zoomed = { width: 320, height: 256 };

/** What a finger does not hit, in words. Runs in the browser. */
function smallTargetsHere(leastPx: number): string[] {
  if (!matchMedia('(pointer: coarse)').matches) return ['the pointer is not coarse'];
  const name = (element: Element) =>
    `${element.tagName.toLowerCase()}.${element.classList.value || '-'} “${(element.textContent || element.getAttribute('aria-label') || '').trim().slice(0, 40)}”`;
  /** A link in a sentence is as high as its line (the exception of 2.5.5). */
  const isInText = (element: Element) => {
    const around = element.closest('p, li, dd, label');
    const own = element.textContent?.trim() ?? '';
    return getComputedStyle(element).display === 'inline' && (around?.textContent?.trim().length ?? 0) > own.length;
  };
  const targets = document.body.querySelectorAll<HTMLElement>(
    'a[href], button, summary, select, textarea, input:not([type=hidden])',
  );
  return [...targets].flatMap((element) => {
    const isShown = element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
    if (!isShown || element.closest('.skip') || isInText(element)) return [];
    if (getComputedStyle(element).clipPath === 'inset(50%)' && !element.matches('input')) return [];
    // A label is pressed as well, whether it contains its control or names it; so is the frame of a code's cells.
    const isTick = element.matches('[type=checkbox], [type=radio]');
    const own = isTick && element instanceof HTMLInputElement ? element.labels?.[0] : element.closest('.framed');
    // Where the label or the link is stretched over a card, the card is pressed.
    const label = element.closest('.plan-card, .app-tile') ?? own;
    const { width, height } = (label ?? element).getBoundingClientRect();
    const fits = Math.round(width) >= leastPx && Math.round(height) >= leastPx;
    return fits ? [] : [`touch target: ${name(element)} ${Math.round(width)}×${Math.round(height)}`];
  });
}

/** What hinders reading in a very low window, in words. Runs in the browser. */
function zoomFaultsHere(): string[] {
  const page = document.documentElement;
  const faults = page.scrollWidth > page.clientWidth ? [`scrolls sideways: ${page.scrollWidth}`] : [];
  const covering = [...document.body.querySelectorAll<HTMLElement>('*')].filter((element) => {
    if (element.closest('dialog, html.scripted .snackbar')) return false;
    const { position } = getComputedStyle(element);
    return (position === 'sticky' || position === 'fixed') && element.checkVisibility({ visibilityProperty: true });
  });
  faults.push(...covering.map((element) => `stays in a low window: ${element.tagName}.${element.classList.value}`));
  scrollTo(0, 0);
  const top = document.querySelector('main')?.getBoundingClientRect().top ?? 0;
  if (top > innerHeight / 2) faults.push(`the content begins at ${Math.round(top)} of ${innerHeight} px`);
  return faults;
}

/** What is too small for fingers on the page as it stands, and what hinders at a zoom of 400 %. */
export async function touchFaults(page: Page): Promise<string[]> {
  const debug = await debuggerOf(page);
  await debug.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 1 });
  const small = await page.evaluate(smallTargetsHere, touchTargetPx);
  await debug.send('Emulation.setTouchEmulationEnabled', { enabled: false });
  await page.setViewportSize(zoomed);
  const hindering = await page.evaluate(zoomFaultsHere);
  await page.setViewportSize({ width: zoomed.width, height: heightPx });
  return [...small, ...hindering];
}
