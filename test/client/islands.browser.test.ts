import type { Page } from 'playwright-core';
import { axeFindings } from '../support/chromium.ts';
import { sampleNames } from './gallery.tsx';
import { echo, turnTo, visitsForTests, wakeAll } from './visit.ts';

describe('islands', () => {
  const { newPage, takeFaults, at, open } = visitsForTests();

  /** The names of the scripts that a page asks for from now on, without their hashes. */
  const scriptsOf = (page: Page): string[] => {
    const names: string[] = [];
    page.on('request', (request) => {
      const name = /\/assets\/(.+)-.{8}\.js$/.exec(request.url())?.[1];
      if (name !== undefined) names.push(name);
    });
    return names;
  };

  describe('the loader', () => {
    it('The loader loads nothing until the island is touched, then only Preact and that island, with the nonce of the page', async () => {
      const page = await newPage();
      const scripts = scriptsOf(page);
      await page.goto(at('password field'), { waitUntil: 'networkidle' });
      await page.getByLabel('Password', { exact: true }).fill('typed');
      await page.mouse.move(5, 500);
      await page.waitForTimeout(300);
      expect(scripts).toEqual(['hydrate']);
      await page.getByRole('button', { name: 'Show password' }).click();
      await page.locator('[name=password][type=text]').waitFor();
      expect(scripts.sort()).toEqual(['hydrate', 'reveal', 'shared']);
    });

    it('The loader loads an island that asks for an idle browser without any touch', async () => {
      const page = await newPage();
      const scripts = scriptsOf(page);
      await page.goto(at('notice with markup'), { waitUntil: 'networkidle' });
      expect(scripts.sort()).toEqual(['hydrate', 'passing-notice', 'shared']);
    });

    it('The loader does not wait for ever when the browser is never idle, as on a slow phone', async () => {
      const page = await newPage();
      await page.addInitScript(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
          const until = performance.now() + 15;
          while (performance.now() < until);
          port2.postMessage('again');
        };
        port2.postMessage('begin');
      });
      const woken = page.waitForRequest(/\/passing-notice-/);
      await page.goto(at('notice with markup'));
      await woken;
    });

    it('The loader leaves a page usable when the code of an island is missing on the server', async () => {
      const page = await open('dialog');
      await page.route(/\/assets\/dialog-/, (route) => route.fulfill({ status: 404 }));
      await page.getByRole('link', { name: 'Edit name' }).click();
      await page.getByRole('heading', { name: '/edit-name' }).waitFor();
      expect(takeFaults().every((fault) => /dialog-/.test(fault))).toBe(true);
    });

    it('The loader runs no script without a nonce, whatever an island names', async () => {
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

    it('The menu opens without JavaScript, and its links are links', async () => {
      const page = await open('profile menu', without);
      await page.locator('summary').click();
      expect(await page.getByRole('link', { name: 'Dashboard' }).isVisible()).toBe(true);
      expect(await page.getByRole('button', { name: 'Sign out' }).isVisible()).toBe(true);
    });

    it('A dialog is a page, a tab is a link and a notice stays without JavaScript', async () => {
      const page = await open('dialog', without);
      await page.getByRole('link', { name: 'Edit name' }).click();
      expect(new URL(page.url()).pathname).toBe('/edit-name');
      await page.goto(at('tabs'));
      await page.getByRole('link', { name: 'Tab mfa' }).click();
      expect(new URL(page.url()).search).toBe('?tab=mfa');
      await page.goto(at('notice that passes'));
      await page.waitForTimeout(1000);
      expect(await page.getByText('Saved.').isVisible()).toBe(true);
    });

    it('Switches and choices have a button without JavaScript, and controls that need a script are absent', async () => {
      const page = await open('toggle off', without);
      await page.getByRole('switch', { name: 'Newsletter' }).check({ force: true });
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await echo(page)).toEqual({ news: '1' });
      await page.goto(at('segmented choice'));
      await page.getByRole('radio', { name: 'Annual' }).check();
      await page.getByRole('button', { name: 'Show' }).click();
      expect(await echo(page)).toEqual({ period: 'year' });
      await page.goto(at('copy button'));
      expect(await page.getByText('Copy', { exact: true }).isVisible()).toBe(false);
    });
  });

  it('The tool axe finds no fault in any island, before and after hydration', async () => {
    const page = await newPage();
    const findings: string[] = [];
    for (const name of sampleNames) {
      // The bank's question is not answered here.
      const asksBank = name === 'payment action' && page.waitForRequest(/\/v1\/payment_intents\//);
      await turnTo(page, at(name));
      findings.push(...(await axeFindings(page)).map((finding) => `${name}, asleep: ${finding}`));
      const control = page.locator('[data-island] :is(button, a, input, summary)');
      if ((await control.count()) > 0) await control.first().focus();
      await wakeAll(page);
      await asksBank;
      if (name.startsWith('profile menu')) await page.keyboard.press('ArrowDown');
      findings.push(...(await axeFindings(page)).map((finding) => `${name}, awake: ${finding}`));
    }
    expect(findings).toEqual([]);
  }, 90_000);
});
