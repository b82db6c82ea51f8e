import type { Page } from 'playwright-core';
import { demoMember } from '../../sandbox/index.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { andLoad, askToSignIn, atHome, submitSignIn } from './steps.ts';

describe('the sign-in page', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
    url = sandbox.foyer.url;
  });
  afterAll(() => sandbox?.close());

  const username = (page: Page) => page.getByLabel('Email or phone');
  const password = (page: Page) => page.getByLabel('Password', { exact: true });
  const searchApp = (page: Page) => page.getByRole('heading', { name: 'Find your next business partner' });

  /** For how many days the browser keeps the sign-in; undefined: for as long as it runs. */
  async function daysKept(page: Page): Promise<number | undefined> {
    const cookies = await page.context().cookies(url);
    const session = cookies.find(({ name }) => name === 'foyer_session');
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
    return session?.expires === -1 ? undefined : ((session?.expires ?? 0) - Date.now() / 1000) / 86_400;
  }

  it('A wrong password gives a message, keeps the username and the return address, and is not sent back', async () => {
    const page = await newPage();
    await page.goto(`${url}/?redirect=/sandbox/main`);
    await submitSignIn(page, { email: demoMember.email, password: 'not the password' });
    expect(await page.getByRole('alert').textContent()).toBe('Incorrect email, phone number or password.');
    expect(await username(page).inputValue()).toBe(demoMember.email);
    expect(await password(page).inputValue()).toBe('');
    expect(await page.content()).not.toContain('not the password');
    // And the form is as good as new: it goes on to the page of this site that was wanted.
    await submitSignIn(page);
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    expect(page.url()).toBe(`${url}/sandbox/main`);
  });

  thorough('An unknown username gives a message in the visitor’s language', async () => {
    const page = await newPage({ locale: 'de-AT' });
    await page.goto(url);
    await page.getByLabel('E-Mail oder Telefon').fill('unknown@example.com');
    await page.getByLabel('Passwort', { exact: true }).fill('whatever it is');
    await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
    expect(await page.getByRole('alert').textContent()).toBe(
      'Dieser Benutzer existiert nicht. Prüfen Sie die Schreibweise, geben Sie die Ländervorwahl an (+49 …) oder legen Sie ein Konto an.',
    );
  });

  thorough('Empty fields are marked both at once, and a shown password is hidden again before it is sent', async () => {
    const page = await newPage();
    await page.goto(url);
    await andLoad(page, () => page.getByRole('button', { name: 'Sign in', exact: true }).click());
    for (const [field, text] of [
      [username(page), 'Username cannot be empty'],
      [password(page), 'Password cannot be empty'],
    ] as const) {
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      const described = await field.getAttribute('aria-describedby');
      expect(await page.locator(`[id="${described}"]`).textContent()).toBe(text);
    }
    await username(page).fill(demoMember.email);
    await andLoad(page, () => page.getByRole('button', { name: 'Sign in', exact: true }).click());
    expect(await page.getByText('Username cannot be empty').count()).toBe(0);
    expect(await page.getByText('Password cannot be empty').count()).toBe(1);
    expect(await username(page).inputValue()).toBe(demoMember.email);

    // What is typed is shown and hidden, and sent hidden.
    const button = page.getByRole('button', { name: 'Show password' });
    const shows = (type: 'text' | 'password', pressed: boolean) =>
      Promise.all([
        page.locator(`#field-password[type=${type}]`).waitFor(),
        page.locator(`button[aria-pressed=${pressed}]`).waitFor(),
      ]);
    await password(page).fill(demoMember.password);
    await shows('password', false);
    await button.click();
    await shows('text', true);
    await button.click();
    await shows('password', false);
    await button.click();
    await shows('text', true);
    // What a password manager and the browser's memory of forms see when it is sent.
    await page.evaluate(() => {
      document.querySelector('form.form')?.addEventListener('submit', (event) => {
        event.preventDefault();
        document.title = document.querySelector('[name=password]')?.getAttribute('type') ?? '';
      });
    });
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForFunction(() => document.title === 'password');
  });

  it('The page has no button that does nothing without JavaScript', async () => {
    const page = await newPage({ javaScript: false });
    await page.goto(url);
    expect(await password(page).isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Show password' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
  });

  thorough(
    'The form works by keyboard alone in page order with a visible focus and is remembered for 30 days',
    async () => {
      const page = await newPage();
      const reached: string[] = [];
      const focused = () =>
        page.evaluate(() => {
          const element = document.activeElement ?? document.body;
          const { outlineStyle, outlineWidth } = getComputedStyle(element);
          const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined;
          return {
            name: element.getAttribute('aria-label') ?? label ?? element.textContent ?? '',
            end: element === document.body,
            marked: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
          };
        });
      const walk = async (key: string, most: number) => {
        await page.goto(url);
        // The browser focuses the first field when it next draws the page, which can be after the load.
        await page.waitForFunction(() => document.activeElement !== document.body);
        for (let presses = 0; presses < most; presses += 1) {
          const { name, marked, end } = await focused();
          if (end) break;
          expect({ name, marked }).toEqual({ name, marked: true });
          reached.push(name);
          await page.keyboard.press(key);
        }
      };
      // It begins where typing begins; what stands before that is a step back.
      await walk('Tab', 30);
      await walk('Shift+Tab', 4);
      expect(reached).toEqual([
        ...['Email or phone', 'Password', 'Show password', 'Forgot password?', 'Remember me', 'Sign in'],
        ...[
          'Sign in with a passkey',
          'Create an account',
          // The panel and the addresses of the sandbox.
          ...['Fill in', 'Demo app', 'Demo television', 'Mailbox', 'Parts', 'Emails'],
          ...['Terms of Service', 'Privacy policy', 'Help center', 'Imprint', 'Accessibility'],
          'English',
          'Deutsch',
          'Français',
          'Nederlands',
        ],
        ...['Email or phone', 'Sign up', 'Search', 'Foyer'],
      ]);

      // Round the browser's own controls to the page's beginning.
      const tabTo = async (name: string) => {
        for (let presses = 0; (await focused()).name !== name; presses += 1) {
          expect(presses).toBeLessThan(reached.length);
          await page.keyboard.press('Tab');
        }
      };
      await tabTo('Email or phone');
      await page.keyboard.type(demoMember.email);
      await tabTo('Password');
      await page.keyboard.type(demoMember.password);
      await tabTo('Remember me');
      await page.keyboard.press('Space');
      expect(await page.getByLabel('Remember me').isChecked()).toBe(true);
      // Past the link and the button of the password.
      for (let at = 0; at < 3; at += 1) await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Enter');
      await searchApp(page).waitFor();
      expect(await daysKept(page)).toBeCloseTo(30, 1);
    },
  );

  thorough('A change of language keeps the waiting client, and the back button starts its request again', async () => {
    const page = await newPage();
    await askToSignIn(page, sandbox.demoUrl);
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { name: 'Willkommen zurück' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    const tab = await page.context().newPage();
    await tab.goto(`${url}/tos`);
    expect(await tab.getByRole('heading', { level: 1 }).textContent()).toBe('Nutzungsbedingungen');
    await page.getByLabel('E-Mail oder Telefon').fill(demoMember.email);
    await page.getByLabel('Passwort', { exact: true }).fill(demoMember.password);
    await page.getByRole('button', { name: 'Anmelden', exact: true }).click();
    // The app is another site: it follows the browser's language.
    await atHome(page, 'Vera Lindqvist');
    const begun: string[] = [];
    page.on('request', (request) => {
      const { origin, pathname } = new URL(request.url());
      if (origin === url && request.isNavigationRequest()) begun.push(pathname);
    });
    await page.goBack();
    await atHome(page, 'Vera Lindqvist');
    // Not the page of before, out of the browser's memory: the app has asked once more.
    expect(begun).toEqual(['/', '/begin-again', '/oauth2/authorize']);
  });

  it('Without a client the sign-in leads to the search app for the browser session, and the header signs out', async () => {
    const page = await newPage();
    await page.goto(url);
    await submitSignIn(page);
    await searchApp(page).waitFor();
    expect(page.url()).toBe(`${url}/sandbox/search`);
    expect(await daysKept(page)).toBeUndefined();
    // A member who comes to the front door again walks straight through.
    await page.goto(url);
    await searchApp(page).waitFor();
    await page.locator('summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await username(page).waitFor();
    expect(page.url()).toBe(`${url}/`);
    const names = (await page.context().cookies(url)).map(({ name }) => name);
    expect(names).not.toContain('foyer_session');
  });

  it('Attack: injected scripts, pictures and forms are stopped by the content security policy', async () => {
    const page = await newPage();
    await page.goto(url);
    const stops = (directive: string) =>
      page.waitForEvent('console', (message) => message.text().startsWith(`the policy ${directive} has stopped`));
    await Promise.all([
      stops('script-src-elem'),
      stops('img-src'),
      page.evaluate(() => {
        const script = document.createElement('script');
        script.textContent = 'document.title = "taken over"';
        const image = new Image();
        image.src = 'http://localhost:9/beacon';
        document.body.append(script, image);
      }),
    ]);
    expect(await page.title()).toBe('Sign in · Foyer');
    await Promise.all([
      stops('form-action'),
      page.evaluate(() => {
        const form = document.createElement('form');
        form.action = 'http://localhost:9/steal';
        document.body.append(form);
        form.submit();
      }),
    ]);
    // All that was seen of it is what the browser says about it.
    const aboutPolicy = (text: string) => /Content Security Policy|the policy|: csp$/.test(text);
    const faults = takeFaults();
    expect(faults.filter(aboutPolicy).length).toBeGreaterThanOrEqual(3);
    expect(faults.filter((text) => !aboutPolicy(text))).toEqual([]);
  });
});
