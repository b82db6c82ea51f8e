import { demoMember } from '../../sandbox/index.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';

describe('a form that is being sent', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  it('A double press sends the form once, and its button is marked as busy', async () => {
    const page = await newPage();
    let sent = 0;
    await page.route('**/sign-in', async (route) => {
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, 800));
      await route.continue();
    });
    await page.goto(sandbox.foyer.url);
    await page.getByLabel('Email or phone').fill(demoMember.email);
    await page.getByLabel('Password', { exact: true }).fill(demoMember.password);
    // Whoever looks from outside would wait for the next page.
    await page.getByRole('button', { name: 'Sign in', exact: true }).evaluate((button: HTMLButtonElement) => {
      sessionStorage.setItem('before', String(button.ariaBusy));
      new MutationObserver(() => sessionStorage.setItem('meanwhile', String(button.ariaBusy))).observe(button, {
        attributes: true,
      });
      button.click();
      button.click();
    });
    await page.getByRole('heading', { name: 'Find your next business partner' }).waitFor();
    expect(await page.evaluate(() => ({ ...sessionStorage }))).toEqual({ before: 'null', meanwhile: 'true' });
    expect(sent).toBe(1);
  });
});
