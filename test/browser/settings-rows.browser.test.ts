import { enrol } from '../account/mfa-steps.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { layoutFaults } from './layout.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { goOnAs } from './steps.ts';

describe('rows and lists of the settings', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  it.each(['en', 'de', 'fr', 'nl'])(
    'On a phone Copy, Download and Print of new recovery codes share one row: %s',
    async (lang) => {
      const { foyer } = sandbox;
      const browser = await foyer.signedIn(await foyer.addUser());
      await enrol(foyer, browser);
      const page = await newPage({ widthPx: 375 });
      await goOnAs(page, browser, foyer.url);
      await page.context().addCookies([{ name: 'foyer_lang', value: lang, url: foyer.url }]);
      await page.goto(`${foyer.url}/settings/recovery-codes`);
      const buttons = await page.locator('section:has(.recovery-codes) + .actions .button').all();
      const boxes = await Promise.all(buttons.map((button) => button.boundingBox()));
      expect(boxes).toHaveLength(3);
      expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
      const [first, last] = [boxes[0], boxes[2]];
      const list = await page.locator('.recovery-codes').boundingBox();
      expect(first?.x).toBe(list?.x);
      expect(Math.round((last?.x ?? 0) + (last?.width ?? 0))).toBe(Math.round((list?.x ?? 0) + (list?.width ?? 0)));
      expect(await layoutFaults(page, 375)).toEqual([]);
    },
  );

  it('On a wide screen the labels of all rows of the settings share a column, and so do their values', async () => {
    const { foyer } = sandbox;
    const page = await newPage();
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    for (const tab of ['sign-in', 'user-data']) {
      await page.goto(`${foyer.url}/settings?tab=${tab}`);
      const starts = await page.locator(`#panel-${tab}`).evaluate((panel) => {
        const lefts = (selector: string) =>
          new Set([...panel.querySelectorAll(selector)].map((part) => Math.round(part.getBoundingClientRect().left)));
        return { labels: [...lefts('.item-label, dt')], values: [...lefts('.item-value, dd')] };
      });
      expect({ tab, ...starts }).toEqual({ tab, labels: [expect.any(Number)], values: [expect.any(Number)] });
    }
  });

  it('On a phone the path to a list is one line, with the link back to Security', async () => {
    const { foyer } = sandbox;
    const page = await newPage({ widthPx: 320 });
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.context().addCookies([{ name: 'foyer_lang', value: 'de', url: foyer.url }]);
    await page.goto(`${foyer.url}/settings/apps`);
    const path = page.locator('.breadcrumb');
    expect((await path.boundingBox())?.height).toBeLessThan(30);
    await path.getByRole('link', { name: 'Sicherheit' }).click();
    await page.waitForURL(`${foyer.url}/settings`);
  });

  it('On a phone the dialog of the name has its explanation, and names what it refuses', async () => {
    const { foyer } = sandbox;
    const page = await newPage({ widthPx: 375 });
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.goto(`${foyer.url}/settings`);
    await page.locator('.name-card a.button').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Shown to other members and in our emails.').waitFor();
    await dialog.locator('[name=given_name]').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('.invalid').waitFor();
    expect(await dialog.locator('.field-error').isVisible()).toBe(true);
    expect(await dialog.getByText('Your data couldn’t be saved.').isVisible()).toBe(true);
  });

  it('In the dialog that deletes the account only the act itself has the color of danger', async () => {
    const { foyer } = sandbox;
    const page = await newPage();
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.goto(`${foyer.url}/settings?tab=user-data`);
    const row = page.locator('#delete-account-row a.button').first();
    const toColor = (button: typeof row) => button.evaluate((element) => getComputedStyle(element).color);
    const danger = await toColor(row);
    await row.click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const keep = dialog.getByRole('link', { name: 'Keep account' });
    expect(await toColor(keep)).toBe(await toColor(dialog.getByRole('heading')));
    expect(await toColor(keep)).not.toBe(danger);
  });

  it('While two-step verification is off its card says so, until the switch is set, without a script too', async () => {
    const { foyer } = sandbox;
    const user = await foyer.addUser({ phone: '+31612345999', phoneVerified: true });
    const page = await newPage({ javaScript: false });
    await goOnAs(page, await foyer.signedIn(user), foyer.url);
    await page.goto(`${foyer.url}/settings?tab=mfa-data`);
    const list = page.locator('#mfa').getByText('You choose between a text message and an authenticator app.');
    expect(await list.isVisible()).toBe(true);
    // The switch says it.
    expect(await page.locator('#mfa').getByText('Off', { exact: true }).count()).toBe(0);
    await page.getByRole('switch').check();
    expect(await list.isVisible()).toBe(false);
  });
});
