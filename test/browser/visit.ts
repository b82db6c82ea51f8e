import type { Page } from 'playwright-core';
import { noticeBoxes } from '../support/browser.ts';

/** Opens a page of a Foyer of this process. @param address its fragment is the notice that an action would have left */
export async function visit(page: Page, address: string): Promise<void> {
  const { origin, href, hash } = new URL(address);
  const notice = hash.slice(1);
  const box = noticeBoxes.get(origin);
  if (notice !== '' && box !== undefined) {
    const value = encodeURIComponent(box.seal(decodeURIComponent(notice)));
    await page.context().addCookies([{ name: 'foyer_notice', value, url: origin }]);
  }
  await page.goto(href.slice(0, href.length - hash.length));
}
