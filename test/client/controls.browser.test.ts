import { echo, focused, scripted, visitsForTests } from './visit.ts';

describe('client controls', () => {
  const { newPage, at, open } = visitsForTests();

  describe('the notice', () => {
    it('A notice hides by itself', async () => {
      const page = await open('notice that passes');
      await page.getByText('Saved.').waitFor({ state: 'hidden' });
    });

    it('A notice stays while the mouse is on it', async () => {
      const page = await open('notice that passes');
      await page.getByText('Saved.').hover();
      await page.waitForTimeout(2_500);
      expect(await page.getByText('Saved.').isVisible()).toBe(true);
      await page.mouse.move(600, 700);
      await page.getByText('Saved.').waitFor({ state: 'hidden' });
    });
  });

  describe('the new password', () => {
    const rules = ['Contains a number or symbol', 'At least 8 characters', 'Can’t contain your name or email address'];

    it('The new-password field shows with every key which rules are met, also when the address changes', async () => {
      const page = await open('new password');
      const states = () => page.locator('.strength li').evaluateAll((items) => items.map(({ className }) => className));
      const input = page.getByLabel('New password');
      expect(await states()).toEqual(['open', 'open', 'open']);
      await input.focus();
      await page.waitForLoadState('networkidle');
      await page.keyboard.type('vera@x');
      await expect(states()).resolves.toEqual(['met', 'unmet', 'met']);
      await page.keyboard.type('.examp');
      expect(await states()).toEqual(['met', 'met', 'met']);
      await page.getByLabel('E-mail').fill('Vera@X.exam');
      expect(await states()).toEqual(['met', 'met', 'unmet']);
      expect(await page.locator('.strength li').allTextContents()).toEqual([
        `${rules[0]} (met)`,
        `${rules[1]} (met)`,
        `${rules[2]} (not met yet)`,
      ]);
      await input.fill('');
      expect(await states()).toEqual(['open', 'open', 'open']);
    });

    it('The new-password field keeps what was typed before its code loaded, shows it, and sends it hidden', async () => {
      const page = await newPage();
      await page.route(/\/assets\/new-password-/, async (route) => {
        await page.getByLabel('New password').evaluate((element: HTMLInputElement) => {
          element.value = 'open sesame 7';
        });
        await route.continue();
      });
      await page.goto(at('new password'));
      await scripted(page);
      await page.getByRole('button', { name: 'Show password' }).click();
      await page.locator('#field-password[type=text]').waitFor();
      expect(await page.locator('.strength .met').count()).toBe(3);
      const sentAs = page.evaluate(
        () =>
          new Promise((resolve) =>
            document
              .querySelector('form')
              ?.addEventListener('submit', () =>
                resolve(document.getElementById('field-password')?.getAttribute('type')),
              ),
          ),
      );
      await page.getByRole('button', { name: 'Send' }).click();
      expect(await sentAs).toBe('password');
      expect(await echo(page)).toEqual({ email: '', password: 'open sesame 7' });
    });
  });

  describe('the resend button', () => {
    it('The seconds count down in the place of the resend button until it may be used', async () => {
      const page = await open('resend');
      const button = page.getByRole('button', { name: 'Resend' });
      await page.getByText('again in 1 s').waitFor();
      expect(await button.count()).toBe(0);
      await page.getByText('again in').waitFor({ state: 'detached' });
      await button.click();
      expect(await echo(page)).toEqual({ act: 'resend' });
    });

    it('The resend button works at any time without scripts and shows the recommended wait', async () => {
      const page = await open('resend', { javaScript: false });
      expect(await page.getByText('again in 2 s').isVisible()).toBe(true);
      await page.getByRole('button', { name: 'Resend' }).click();
      expect(await echo(page)).toEqual({ act: 'resend' });
    });
  });

  describe('the code input', () => {
    it('The code input keeps only digits, accepts a paste with spaces and sends only a complete code', async () => {
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

    it('The code input lets a user type a digit in the middle of a code again', async () => {
      const page = await open('code input');
      const input = page.getByLabel('Code');
      await input.click();
      await page.waitForLoadState('networkidle');
      await page.keyboard.type('123456');
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.type('789');
      expect(await input.inputValue()).toBe('178923');
      await page.keyboard.type('x0');
      expect(await input.inputValue()).toBe('178902');
    });

    it('A code that is alone is sent once, at the last digit that is typed, and the page says so before', async () => {
      const page = await open('code input that is alone');
      await page.waitForLoadState('networkidle');
      const input = page.getByLabel('Code');
      expect(await input.getAttribute('aria-describedby')).toBe('field-code-auto-submit');
      const hint = page.getByText('Submits at the last digit.');
      expect(await hint.isVisible()).toBe(true);
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByText('Enter all 6 digits.').waitFor();
      expect(await hint.isVisible()).toBe(false);
      const sent: string[] = [];
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.postData() ?? ''));
      await input.click();
      await page.keyboard.type('12a34b5');
      expect(await input.inputValue()).toBe('12345');
      // The user's own Enter, or a password manager's, does not send it twice.
      await page.keyboard.type('6');
      await page.keyboard.press('Enter');
      await page.locator('#echo').waitFor();
      expect(await echo(page)).toEqual({ code: '123456' });
      expect(sent).toEqual(['code=123456']);
    });

    it('A code that is alone is sent once when it is pasted with a space, and after a correction by the button alone', async () => {
      const page = await open('code input that is alone');
      await page.waitForLoadState('networkidle');
      const input = page.getByLabel('Code');
      await page.evaluate(() => {
        const { dataset } = document.body;
        addEventListener('submit', (event) => {
          event.preventDefault();
          dataset.sent = String(Number(dataset.sent ?? 0) + 1);
        });
      });
      const sent = () => page.locator('body').getAttribute('data-sent');
      await input.evaluate((element: HTMLInputElement) => {
        element.value = '493 027';
        element.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }));
      });
      expect(await sent()).toBe('1');
      expect(await input.inputValue()).toBe('493027');
      await input.press('End');
      await page.keyboard.press('Backspace');
      await page.keyboard.type('8');
      expect(await input.inputValue()).toBe('493028');
      await page.waitForTimeout(200);
      expect(await sent()).toBe('1');
      await page.getByRole('button', { name: 'Confirm' }).click();
      expect(await sent()).toBe('2');
    });

    it('A code that was typed before its code loaded is sent; one that the server has filled in waits for the button', async () => {
      const page = await newPage();
      const released = Promise.withResolvers<void>();
      await page.route(/\/assets\/code-input-/, async (route) => {
        await released.promise;
        await route.continue();
      });
      await page.goto(at('code input that is alone'));
      await scripted(page);
      await page.getByLabel('Code').pressSequentially('123456');
      released.resolve();
      await page.locator('#echo').waitFor();
      expect(await echo(page)).toEqual({ code: '123456' });
      await page.goto(at('code input that is filled in'));
      await page.getByLabel('Code').focus();
      await page.waitForLoadState('networkidle');
      await page.locator('[data-awake]').waitFor();
      await page.waitForTimeout(200);
      expect(await page.locator('#echo').count()).toBe(0);
      await page.getByRole('button', { name: 'Confirm' }).click();
      expect(await echo(page)).toEqual({ code: '123456' });
    });

    it('A code that the browser’s history brings back is not sent again', async () => {
      const page = await open('code input that is alone');
      await page.waitForLoadState('networkidle');
      await page.getByLabel('Code').pressSequentially('123456');
      await page.locator('#echo').waitFor();
      await page.goBack();
      await page.getByLabel('Code').waitFor();
      await page.waitForLoadState('networkidle');
      await page.waitForTimeout(500);
      expect(await page.locator('#echo').count()).toBe(0);
    });

    it('The code input is as wide as its container, with six equal cells, at 320 px and at 1366 px', async () => {
      for (const width of [320, 375, 1366]) {
        const page = await open('code input', { widthPx: width });
        const { frame, available, spacing, digit } = await page.getByLabel('Code').evaluate((element) => {
          const style = getComputedStyle(element);
          // The shorthand `font` says nothing of tabular digits.
          const digits = Object.assign(document.createElement('span'), { textContent: '0123456789' });
          const { fontFamily, fontSize, fontWeight, fontVariantNumeric } = style;
          Object.assign(digits.style, { fontFamily, fontSize, fontWeight, fontVariantNumeric, position: 'absolute' });
          document.body.append(digits);
          return {
            frame: element.parentElement?.clientWidth ?? 0,
            available: element.closest('.control')?.clientWidth ?? 0,
            spacing: Number.parseFloat(style.letterSpacing),
            digit: digits.getBoundingClientRect().width / 10,
          };
        });
        expect(frame).toBe(Math.min(available, 33 * 16) - 2);
        expect(Math.abs(spacing + digit - frame / 6)).toBeLessThan(0.6);
      }
    });

    it('The code input has the attributes that browsers and phones expect and keeps what was typed before its code loaded', async () => {
      const page = await newPage();
      await page.route(/\/assets\/code-input-/, async (route) => {
        await page.getByLabel('Code').evaluate((element: HTMLInputElement) => {
          element.value = '12-34-56';
        });
        await route.continue();
      });
      await page.goto(at('code input'));
      const input = page.getByLabel('Code');
      expect(await input.getAttribute('autocomplete')).toBe('one-time-code');
      expect(await input.getAttribute('inputmode')).toBe('numeric');
      await scripted(page);
      await input.focus();
      await page.waitForFunction(() => document.querySelector('input')?.value === '123456');
    });
  });

  describe('tabs', () => {
    it('Tabs can be reached by arrow keys, and the address follows', async () => {
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
    it('A segmented choice shows its panel at the first click and by arrow keys', async () => {
      const page = await open('segmented choice');
      await page.getByRole('radio', { name: 'Annual' }).check();
      await page.getByText('Panel devices').waitFor();
      expect(await page.getByText('Panel info').isVisible()).toBe(false);
      await page.keyboard.press('ArrowLeft');
      await page.getByText('Panel info').waitFor();
      expect(await page.getByRole('button', { name: 'Show' }).isVisible()).toBe(false);
    });

    it('A toggle saves at the first click', async () => {
      const page = await open('toggle off');
      await page.getByText('Newsletter').click();
      expect(await echo(page)).toEqual({ news: '1' });
    });

    it('The copy button copies at the first click and confirms it', async () => {
      const page = await open('copy button');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: 'Copy' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('abcd-efgh');
      await page.getByRole('button', { name: 'Copy', exact: true }).waitFor();
    });
  });
});
