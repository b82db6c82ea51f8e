import { chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { type FederatedHouse, openFederatedHouse } from './tour-federation.ts';

describe('the sign-in page with providers above its form', () => {
  const { newPage } = chromiumForTests();
  let house: FederatedHouse;
  beforeAll(async () => {
    house = await openFederatedHouse();
  });
  afterAll(() => house?.close());

  it('The Enter key signs in with the form’s own button, which is marked as busy', async () => {
    const page = await newPage();
    const member = await house.foyer.addUser();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(new URL(request.url()).pathname);
    });
    await page.route('**/sign-in', async (route) => {
      await page
        .getByRole('button', { name: 'Sign in', exact: true, includeHidden: true })
        .and(page.locator('[aria-busy=true]'))
        .waitFor();
      await route.continue();
    });
    await page.goto(`${house.foyer.url}/?redirect=/settings`);
    await page.getByLabel('Email or phone').fill(member.email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByLabel('Password', { exact: true }).press('Enter');
    await page.waitForURL('**/settings');
    expect(asked).toEqual(['/sign-in']);
  });

  it('Tab reaches the provider buttons in visual order and no hidden one', async () => {
    const page = await newPage();
    await page.goto(house.foyer.url);
    const visited = async (key: string, steps: number) => {
      await page.getByLabel('Email or phone').focus();
      const names: string[] = [];
      for (let step = 0; step < steps; step += 1) {
        await page.keyboard.press(key);
        names.push(await page.evaluate(() => document.activeElement?.textContent ?? ''));
      }
      return names;
    };
    expect(await visited('Shift+Tab', 4)).toEqual([
      'Continue with Facebook',
      'Continue with Google',
      'Continue with Amazon',
      'Sign up',
    ]);
    const below = (await visited('Tab', 9)).filter((name) => /^(Continue with|Sign in$|Other ways)/.test(name));
    expect(below.map((name) => name.replace(/\d.*/, ''))).toEqual(['Sign in', 'Other ways to continue']);
  });
});
