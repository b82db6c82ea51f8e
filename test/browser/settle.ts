import type { Page } from 'playwright-core';

/**
 * Lets countdowns run out at once: a page is compared in the state that it keeps, however long it took to open. Before
 * the pages are opened.
 */
export const hurryCountdowns = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const { performance, setInterval } = window;
    const read = performance.now.bind(performance);
    let aheadMs = 0;
    performance.now = () => read() + aheadMs;
    window.setInterval = ((run: () => void, everyMs = 0) =>
      setInterval(() => {
        aheadMs += everyMs;
        run();
      }, 1)) as typeof window.setInterval;
  });

/** Waits until nothing on the page changes by itself: scripts have drawn their parts, colors follow the theme. */
export const settle = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const untilMs = Date.now() + 15_000;
    const waits = () =>
      document.querySelector('[data-load=idle]:not([data-awake]), .resend [data-island] .muted') !== null;
    while (document.documentElement.classList.contains('scripted') && waits()) {
      if (Date.now() > untilMs) throw new Error('the page does not come to rest');
      await pause(10);
    }
    // A notice that would hide stays as long as the pointer is on it.
    for (const notice of document.querySelectorAll('[data-island=passing-notice] *'))
      notice.dispatchEvent(new PointerEvent('pointerenter', { pointerType: 'mouse' }));
    // A row that scrolls sideways begins at its start: whether it has snapped there is the browser's.
    for (const row of document.querySelectorAll('.sub-header ul, .tabs, .side-menu ul')) row.scrollLeft = 0;
    await frame();
    await frame();
    // Effects of components run after the frame.
    if (document.querySelector('[data-awake]')) await pause(40);
    await frame();
  });
