import type { Page } from 'playwright-core';
import type { TestFoyer } from '../support/foyer.ts';
import { toFlowId } from '../support/ids.ts';
import { sendCode } from './steps.ts';
import type { Stop } from './tour.ts';

/** A sign-in that waits for a code by mail, as it does while the limit of all visitors is full. */
async function wait(page: Page, foyer: TestFoyer): Promise<void> {
  const { mailedCodes } = foyer.app;
  const id = await mailedCodes.begin({ user: null, remember: false });
  await mailedCodes.send(toFlowId(id), 'en');
  await page.context().addCookies([{ name: 'foyer_sign_in_code', value: id, url: foyer.url }]);
  await page.goto(`${foyer.url}/sign-in/code`);
}

export const mailedCodeStops = ({ foyer }: { foyer: () => TestFoyer }): Stop[] => [
  { name: 'sign-in by a code by mail', open: (page: Page) => wait(page, foyer()) },
  {
    name: 'sign-in by a code by mail refused',
    async open(page: Page) {
      await wait(page, foyer());
      await sendCode(page, '000000');
      await page.locator('.field-error').first().waitFor();
    },
  },
];
