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

/**
 * Keeps notices that would hide, as the pointer on them does: on a busy machine they would be gone before they are
 * compared. Before the pages are opened.
 */
export const keepNotices = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    // Frames of mails run no scripts.
    if (window !== window.top) return;
    const { setInterval } = window;
    setInterval(() => {
      for (const notice of document.querySelectorAll('[data-island=passing-notice][data-awake] *'))
        notice.dispatchEvent(new PointerEvent('pointerenter', { pointerType: 'mouse' }));
    }, 50);
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
    // A row that scrolls sideways begins at its start: whether it has snapped there is the browser's.
    for (const row of document.querySelectorAll('.sub-header ul, .tabs, .side-menu ul')) row.scrollLeft = 0;
    await frame();
    await frame();
    // Effects of components run after the frame.
    if (document.querySelector('[data-awake]')) await pause(40);
    await frame();
  });
