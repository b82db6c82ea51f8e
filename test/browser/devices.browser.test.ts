import type { Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { expectFormNext } from './short-ways.ts';
import { submitSignIn } from './steps.ts';
import { alsoByPhone } from './tour-devices.ts';

const backend = anyBackend;

describe('the list of devices in a browser', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
  });
  afterAll(() => sandbox?.close());

  async function atSettings(user: User, javaScript: boolean): Promise<Page> {
    const page = await newPage({ javaScript });
    await page.goto(`${sandbox.foyer.url}/settings?tab=device-data`);
    await submitSignIn(page, { email: user.email, password });
    await page.getByRole('heading', { level: 2, name: 'Your devices' }).waitFor();
    return page;
  }

  it.each([true, false])(
    'A device that is signed out gets the sign-in form at its next request; JavaScript %s',
    async (javaScript) => {
      const user = await sandbox.foyer.addUser();
      const other = await sandbox.foyer.signedIn(user);
      await alsoByPhone(sandbox.foyer, user);
      const page = await atSettings(user, javaScript);
      const rows = page.locator('#devices .device-row');
      expect(await rows.count()).toBe(3);
      expect(await rows.first().textContent()).toContain('This device');
      await rows.filter({ hasText: 'Safari on iOS' }).getByRole('link').click();
      const asked = page.locator('.dialog-card');
      await asked.getByText('“Safari on iOS” and the apps opened with it are signed out right away.').waitFor();
      expect(new URL(page.url()).pathname).toBe(javaScript ? '/settings' : '/settings/devices/sign-out');
      if (javaScript) expect(await axeFindings(page)).toEqual([]);
      await asked.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByText('The device has been signed out.').waitFor();
      expect(await rows.count()).toBe(2);

      await page.locator('#devices .card-head').getByRole('link', { name: 'Sign out all others' }).click();
      await page.locator('.dialog-card').getByRole('button', { name: 'Sign out all others' }).click();
      await page.getByText('All other devices have been signed out.').waitFor();
      expect(await rows.count()).toBe(1);
      await expectFormNext(other);
    },
  );

  it.each([360, 768, 1366])(
    'Each fact of a device is one line, its value beside its label, at %s px',
    async (width) => {
      const user = await sandbox.foyer.addUser();
      await alsoByPhone(sandbox.foyer, user);
      const page = await atSettings(user, false);
      await page.getByRole('button', { name: 'Deutsch' }).click();
      await page.getByRole('heading', { level: 2, name: 'Ihre Geräte' }).waitFor();
      await page.setViewportSize({ width, height: 900 });
      const rows = await page.locator('#devices .device-row').evaluateAll((all) =>
        all.map((row) =>
          [...row.querySelectorAll('dl > div')].flatMap((fact) => {
            const { height } = fact.getBoundingClientRect();
            const tops = [...fact.children].map((part) => part.getBoundingClientRect().top);
            const lines = Math.round(height / Number.parseFloat(getComputedStyle(fact).lineHeight));
            return lines === 0 ? [] : [{ lines, isBeside: tops[0] === tops[1] }];
          }),
        ),
      );
      // Phones show the last use and the address alone.
      const facts = Array.from({ length: width === 360 ? 2 : 3 }, () => ({ lines: 1, isBeside: true }));
      expect(rows).toEqual([facts, facts]);
    },
  );
});
