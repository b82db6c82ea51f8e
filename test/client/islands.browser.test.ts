import type { Page } from 'playwright-core';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { buildClient, type ClientBuild } from './build.ts';
import { type Gallery, openGallery, sampleNames } from './gallery.tsx';

describe('islands', () => {
  const { newPage, takeFaults } = chromiumForTests();
  let client: ClientBuild;
  let gallery: Gallery;
  beforeAll(async () => {
    client = buildClient();
    gallery = await openGallery(client.dir);
  }, 60_000);
  afterAll(async () => {
    await gallery?.close();
    client?.remove();
  });

  const scripted = (page: Page) => page.waitForFunction(() => document.documentElement.classList.contains('scripted'));
  const open = async (sample: string, visitor?: Parameters<typeof newPage>[0]): Promise<Page> => {
    const page = await newPage(visitor);
    await page.goto(gallery.at(sample));
    if (visitor?.javaScript !== false) await scripted(page);
    return page;
  };
  /** The names of the scripts that a page asks for from now on, without their hashes. */
  const scriptsOf = (page: Page): string[] => {
    const names: string[] = [];
    page.on('request', (request) => {
      const name = /\/assets\/(.+)-.{8}\.js$/.exec(request.url())?.[1];
      if (name !== undefined) names.push(name);
    });
    return names;
  };
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim());
  const echo = async (page: Page) => JSON.parse((await page.locator('#echo').textContent()) ?? '');

  describe('the loader', () => {
    it('loads nothing until the island is touched, then React and that island alone, by the nonce of the page', async () => {
      const page = await newPage();
      const scripts = scriptsOf(page);
      await page.goto(gallery.at('password field'), { waitUntil: 'networkidle' });
      await page.getByLabel('Password', { exact: true }).fill('typed');
      await page.mouse.move(5, 500);
      await page.waitForTimeout(300);
      expect(scripts).toEqual(['hydrate']);
      await page.getByRole('button', { name: 'Show password' }).click();
      await page.locator('[name=password][type=text]').waitFor();
      expect(scripts.sort()).toEqual(['hydrate', 'react', 'reveal']);
    });

    it('waits for nobody where an island asks for an idle browser', async () => {
      const page = await newPage();
      const scripts = scriptsOf(page);
      await page.goto(gallery.at('notice with markup'), { waitUntil: 'networkidle' });
      expect(scripts.sort()).toEqual(['hydrate', 'passing-notice', 'react']);
    });

    it('leaves a page usable whose code has gone from the server', async () => {
      const page = await open('dialog');
      await page.route(/\/assets\/dialog-/, (route) => route.fulfill({ status: 404 }));
      await page.getByRole('link', { name: 'Edit name' }).click();
      await page.getByRole('heading', { name: '/edit-name' }).waitFor();
      expect(takeFaults().every((fault) => /dialog-/.test(fault))).toBe(true);
    });

    it('lets no script run that names no nonce, whatever an island says', async () => {
      const page = await open('copy button');
      const stopped = page.waitForEvent('console', (message) =>
        message.text().startsWith('the policy script-src-elem'),
      );
      await page.evaluate(() => {
        const script = document.createElement('script');
        script.type = 'module';
        script.src = document.querySelector<HTMLScriptElement>('script[src*=hydrate]')?.src ?? '';
        script.src += '?again';
        const island = document.createElement('div');
        island.dataset.island = '../root';
        island.innerHTML = '<button type="button">Wake me</button>';
        document.body.append(script, island);
      });
      await stopped;
      takeFaults();
      await page.getByRole('button', { name: 'Wake me' }).click();
      await page.waitForTimeout(200);
    });
  });

  describe('without JavaScript', () => {
    const without = { javaScript: false };

    it('the menu opens and its links are links', async () => {
      const page = await open('profile menu', without);
      await page.locator('summary').click();
      expect(await page.getByRole('link', { name: 'Dashboard' }).isVisible()).toBe(true);
      expect(await page.getByRole('button', { name: 'Logout' }).isVisible()).toBe(true);
    });

    it('a dialog is a page, a tab is a link, a notice stays', async () => {
      const page = await open('dialog', without);
      await page.getByRole('link', { name: 'Edit name' }).click();
      expect(new URL(page.url()).pathname).toBe('/edit-name');
      await page.goto(gallery.at('tabs'));
      await page.getByRole('link', { name: 'Tab mfa' }).click();
      expect(new URL(page.url()).search).toBe('?tab=mfa');
      await page.goto(gallery.at('notice that passes'));
      await page.waitForTimeout(1000);
      expect(await page.getByText('Saved.').isVisible()).toBe(true);
    });

    it('switches and choices have their button, and what needs a script is not there', async () => {
      const page = await open('toggle off', without);
      await page.getByRole('switch', { name: 'Newsletter' }).check({ force: true });
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await echo(page)).toEqual({ news: '1' });
      await page.goto(gallery.at('segmented choice'));
      await page.getByRole('radio', { name: 'Annual' }).check();
      await page.getByRole('button', { name: 'Show' }).click();
      expect(await echo(page)).toEqual({ period: 'year' });
      await page.goto(gallery.at('copy button'));
      expect(await page.getByText('Copy', { exact: true }).isVisible()).toBe(false);
    });
  });

  describe('the profile menu', () => {
    const isOpen = (page: Page) => page.locator('details').evaluate((menu) => (menu as HTMLDetailsElement).open);
    const becomes = (page: Page, open: boolean) =>
      page.locator(open ? 'details[open]' : 'details:not([open])').waitFor();

    it('opens on hover, stays on a click, closes on the next one and when the mouse has left', async () => {
      const page = await open('profile menu');
      await page.locator('summary').hover();
      await becomes(page, true);
      await page.locator('summary').click();
      expect(await isOpen(page)).toBe(true);
      await page.locator('summary').click();
      await becomes(page, false);
      await page.mouse.move(600, 700);
      await page.locator('summary').hover();
      await becomes(page, true);
      // Over the gap into the list, which does not close it.
      await page.getByRole('link', { name: 'Wallet' }).hover();
      await page.waitForTimeout(500);
      expect(await isOpen(page)).toBe(true);
      await page.mouse.move(600, 700);
      await becomes(page, false);
    });

    it('opens at the very first tap, and closes at a tap elsewhere', async () => {
      const phone = await newPage({ touch: true, widthPx: 375 });
      await phone.goto(gallery.at('profile menu'));
      await phone.locator('summary').tap();
      await becomes(phone, true);
      await phone.waitForLoadState('networkidle');
      expect(await isOpen(phone)).toBe(true);
      await phone.getByRole('button', { name: 'Elsewhere' }).tap({ force: true });
      await becomes(phone, false);
    });

    it('is done by keyboard: arrows open it and go round, Escape gives the focus back, Tab leaves it', async () => {
      const page = await open('profile menu');
      await page.keyboard.press('Tab');
      await page.waitForLoadState('networkidle');
      await page.keyboard.press('ArrowDown');
      await becomes(page, true);
      expect(await focused(page)).toBe('Dashboard');
      await page.keyboard.press('ArrowDown');
      expect(await focused(page)).toBe('Search');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowUp');
      expect(await focused(page)).toBe('Logout');
      await page.keyboard.press('Home');
      expect(await focused(page)).toBe('Dashboard');
      await page.keyboard.press('End');
      expect(await focused(page)).toBe('Logout');
      await page.keyboard.press('Escape');
      expect(await isOpen(page)).toBe(false);
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY');
      await page.keyboard.press('Enter');
      await becomes(page, true);
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowUp');
      expect(await focused(page)).toBe('Logout');
      await page.keyboard.press('Tab');
      await becomes(page, false);
      expect(await focused(page)).toBe('Elsewhere');
    });
  });

  describe('the dialog', () => {
    const dialog = (page: Page) => page.getByRole('dialog', { name: 'Edit your name' });

    it('comes up at the first click, keeps the focus in, and gives it back on Escape, button and Cancel', async () => {
      const page = await open('dialog');
      const link = page.getByRole('link', { name: 'Edit name' });
      const closings = [
        () => page.keyboard.press('Escape'),
        () => page.getByRole('button', { name: 'Close' }).click(),
        () => page.getByRole('link', { name: 'Cancel' }).click(),
      ];
      for (const close of closings) {
        await link.click();
        await dialog(page).waitFor();
        expect(await page.getByLabel('Given name').evaluate((input) => input === document.activeElement)).toBe(true);
        for (let presses = 0; presses < 8; presses += 1) {
          await page.keyboard.press('Tab');
          // Between the last and the first control the focus is the browser's own, nowhere on the page.
          const inside = await page.evaluate(
            () => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null,
          );
          expect(inside).toBe(true);
        }
        await close();
        await dialog(page).waitFor({ state: 'detached' });
        expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
      }
    });

    it('sends its form to the page it came from', async () => {
      const page = await open('dialog');
      await page.getByRole('link', { name: 'Edit name' }).click();
      await page.getByLabel('Given name').fill('Vera');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await echo(page)).toEqual({ given_name: 'Vera' });
      expect(new URL(page.url()).pathname).toBe('/edit-name');
    });

    it('is a page where there is nothing to lift, and a click with a key held opens a tab', async () => {
      const page = await open('dialog that has gone');
      await page.getByRole('link').click();
      await page.getByText('A page without a dialog').waitFor();
      const other = await open('dialog');
      const [tab] = await Promise.all([
        other.context().waitForEvent('page'),
        other.getByRole('link', { name: 'Edit name' }).click({ modifiers: ['ControlOrMeta'] }),
      ]);
      await tab.waitForURL(/edit-name/);
      expect(await dialog(other).count()).toBe(0);
    });
  });

  describe('the notice', () => {
    it('hides by itself', async () => {
      const page = await open('notice that passes');
      await page.getByText('Saved.').waitFor({ state: 'hidden' });
    });

    it('stays while the mouse is on it', async () => {
      const page = await open('notice that passes');
      await page.getByText('Saved.').hover();
      await page.waitForTimeout(1200);
      expect(await page.getByText('Saved.').isVisible()).toBe(true);
      await page.mouse.move(600, 700);
      await page.getByText('Saved.').waitFor({ state: 'hidden' });
    });
  });

  describe('the code input', () => {
    it('keeps digits alone, takes a paste with spaces, and sends a whole code only', async () => {
      const page = await open('code input');
      const input = page.getByLabel('Code');
      await input.click();
      await page.waitForLoadState('networkidle');
      await page.keyboard.type('12a 3');
      expect(await input.inputValue()).toBe('123');
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByText('Enter all 6 digits.').waitFor();
      expect(await input.getAttribute('aria-invalid')).toBe('true');
      expect(await input.evaluate((element) => element === document.activeElement)).toBe(true);
      await input.fill('');
      await input.evaluate((element: HTMLInputElement) => {
        element.value = '123 456 7';
        element.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }));
      });
      expect(await input.inputValue()).toBe('123456');
      expect(await page.getByText('Enter all 6 digits.').count()).toBe(0);
      await page.keyboard.press('Enter');
      expect(await echo(page)).toEqual({ code: '123456' });
    });

    it('is named as browsers and phones expect, and keeps what was typed before its code came', async () => {
      const page = await newPage();
      await page.route(/\/assets\/code-input-/, async (route) => {
        await page.getByLabel('Code').evaluate((element: HTMLInputElement) => {
          element.value = '12-34-56';
        });
        await route.continue();
      });
      await page.goto(gallery.at('code input'));
      const input = page.getByLabel('Code');
      expect(await input.getAttribute('autocomplete')).toBe('one-time-code');
      expect(await input.getAttribute('inputmode')).toBe('numeric');
      await scripted(page);
      await input.focus();
      await page.waitForFunction(() => document.querySelector('input')?.value === '123456');
    });
  });

  describe('tabs', () => {
    it('become tabs that arrows move through, and the address follows', async () => {
      const page = await open('tabs');
      await page.getByText('Tab devices').click();
      await page.getByRole('tabpanel', { name: 'Tab devices' }).waitFor();
      expect(await page.getByText('Panel info').isVisible()).toBe(false);
      expect(new URL(page.url()).search).toBe('?tab=devices');
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tabpanel', { name: 'Tab mfa' }).waitFor();
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tabpanel', { name: 'Tab info' }).waitFor();
      expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Tab info');
      expect(await focused(page)).toBe('Tab info');
    });
  });

  describe('choices', () => {
    it('a segmented choice shows its panel at the first click and by arrow keys', async () => {
      const page = await open('segmented choice');
      await page.getByRole('radio', { name: 'Annual' }).check();
      await page.getByText('Panel devices').waitFor();
      expect(await page.getByText('Panel info').isVisible()).toBe(false);
      await page.keyboard.press('ArrowLeft');
      await page.getByText('Panel info').waitFor();
      expect(await page.getByRole('button', { name: 'Show' }).isVisible()).toBe(false);
    });

    it('a toggle saves at the first click', async () => {
      const page = await open('toggle off');
      await page.getByText('Newsletter').click();
      expect(await echo(page)).toEqual({ news: '1' });
    });

    it('the copy button copies at the first click, and says so', async () => {
      const page = await open('copy button');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: 'Copy' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('abcd-efgh');
      await page.getByRole('button', { name: 'Copy', exact: true }).waitFor();
    });
  });

  it('axe finds nothing in any of them, asleep and awake', async () => {
    const page = await newPage();
    const findings: string[] = [];
    for (const name of sampleNames) {
      await page.goto(gallery.at(name));
      await scripted(page);
      findings.push(...(await axeFindings(page)).map((finding) => `${name}, asleep: ${finding}`));
      const control = page.locator('[data-island] :is(button, a, input, summary)');
      if ((await control.count()) > 0) await control.first().focus();
      await page.waitForLoadState('networkidle');
      if (name.startsWith('profile menu')) await page.keyboard.press('ArrowDown');
      findings.push(...(await axeFindings(page)).map((finding) => `${name}, awake: ${finding}`));
    }
    expect(findings).toEqual([]);
  }, 90_000);
});
