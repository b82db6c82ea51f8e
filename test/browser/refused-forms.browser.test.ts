import type { Page, Request, Response } from 'playwright-core';
import { demoMember } from '../../sandbox/index.ts';
import { chromiumForTests } from '../support/chromium.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import type { TestStripe } from '../support/stripe.ts';
import { startStripeWithPlans } from './purchase-steps.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { andLoad, fillProfile, goOnAs, submitSignIn } from './steps.ts';

const backend = anyBackend;

/** Sends the page's own form as it is, with these values, past what the browser checks before it sends. */
async function send(page: Page, values: Record<string, string>, form = 'main form, dialog form'): Promise<void> {
  await andLoad(page, () =>
    page
      .locator(form)
      .first()
      .evaluate((found, given) => {
        const target = found as HTMLFormElement;
        for (const [name, value] of Object.entries(given)) {
          for (const known of target.querySelectorAll(`[name="${name}"]`)) known.remove();
          const field = document.createElement('input');
          Object.assign(field, { type: 'hidden', name, value });
          target.append(field);
        }
        // Past listeners and constraints.
        HTMLFormElement.prototype.submit.call(target);
      }, values),
  );
}

/** The methods of the documents that the browser asks for meanwhile. */
async function methodsWhile(page: Page, act: () => Promise<unknown>): Promise<string[]> {
  const methods: string[] = [];
  const note = (request: Request) => {
    if (request.isNavigationRequest() && request.redirectedFrom() === null) methods.push(request.method());
  };
  page.on('request', note);
  await act();
  page.off('request', note);
  return methods;
}

describe('a refused form in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let stripe: TestStripe;
  let foyer: TestFoyer;
  let url: string;
  beforeAll(async () => {
    stripe = await startStripeWithPlans();
    sandbox = await startSandbox(backend, stripe.environment());
    foyer = sandbox.foyer;
    url = foyer.url;
  });
  afterAll(async () => {
    await sandbox?.close();
    await stripe?.close();
  });

  const guessesCounted = () => foyer.logged().split('"outcome":"wrong-password"').length - 1;
  const formStands = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();

  it.each([{ javaScript: true }, { javaScript: false }])(
    'Reload and Back after a wrong password show the form and count no further guess; JavaScript $javaScript',
    async ({ javaScript }) => {
      const page = await newPage({ javaScript });
      await page.goto(`${url}/tos`);
      await page.goto(`${url}/?redirect=/tos`);
      const before = guessesCounted();
      await submitSignIn(page, { email: demoMember.email, password: 'not the password' });
      await page.getByRole('alert').waitFor();
      expect(new URL(page.url()).pathname).toBe('/');
      const methods = await methodsWhile(page, async () => {
        await page.reload();
        await formStands(page);
        await page.goto(page.url());
        await formStands(page);
        await page.goto(`${url}/sign-in?redirect=/tos`);
        await formStands(page);
        await page.goBack();
        await formStands(page);
      });
      expect([...new Set(methods)]).toEqual(['GET']);
      expect(guessesCounted() - before).toBe(1);
      await submitSignIn(page);
      await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Terms' }).waitFor();
      // Back to the form's page: who is signed in goes on from there, and no form is sent again.
      const back = await methodsWhile(page, () => page.goBack());
      expect(back.filter((method) => method !== 'GET')).toEqual([]);
      expect(page.url()).not.toContain('/sign-in');
      expect(guessesCounted() - before).toBe(1);
    },
  );

  /** After a refusal: the page's address is one that GET answers, and reloading sends no form. */
  async function entryIsGet(page: Page, what: string): Promise<void> {
    const shown = page.url();
    const methods = await methodsWhile(page, () => page.reload());
    expect([what, methods, page.url()]).toEqual([what, ['GET'], shown]);
    expect([what, await page.locator('main h1, dialog h1, dialog h2').count()]).toEqual([what, 1]);
  }

  /** Each form with values that its handler refuses, and a text that its page shows then. */
  const strangers: [string, Record<string, string>, RegExp][] = [
    ['/', { username: '', password: '' }, /cannot be empty/],
    ['/signup', { email: 'x' }, /./],
    ['/forgot-password', { username: '' }, /./],
    ['/oauth2/device', { user_code: 'BCDF-GHJK' }, /code/i],
  ];
  const members: [string, Record<string, string>][] = [
    ['/re-authenticate', { password: 'not the password' }],
    ['/settings/name', { given_name: '' }],
    ['/settings/profile', { birthdate: 'never' }],
    ['/settings/email', { email: 'x' }],
    ['/settings/phone', { phone_number: '1' }],
    ['/settings/password', { old_password: 'not the password', new_password: 'short' }],
    ['/settings/mfa', { enabled: '', method: 'none at all' }],
    ['/settings/passkeys/add', { name: '' }],
    ['/settings/delete-account', { confirm: '' }],
    ['/plan-purchase/11', { act: 'promo', planId: '11', promo: 'NO-SUCH-CODE' }],
    ['/plan-purchase', { act: 'choose', planId: 'none' }],
  ];

  it('Every refused form of a visitor leaves a GET in the history', async () => {
    const page = await newPage();
    for (const [path, values, says] of strangers) {
      await page.goto(url + path);
      await send(page, values);
      expect([path, says.test((await page.locator('[role=alert], .field-error').first().textContent()) ?? '')]).toEqual(
        [path, true],
      );
      await entryIsGet(page, path);
    }
    await page.goto(`${url}/signup`);
    await fillProfile(page, { email: 'walker@example.com', password: 'a password with 1 digit' });
    await page.getByLabel('Security code').or(page.locator('[name=code]')).first().waitFor();
    await send(page, { code: '000000' });
    await page.locator('[role=alert], .field-error').first().waitFor();
    await entryIsGet(page, 'the code of a sign-up');
    await page.goto(`${url}/forgot-password`);
    await send(page, { username: demoMember.email });
    await send(page, { code: '000000', password: 'a password with 1 digit', confirm: 'another one with 1 digit' });
    await page.locator('[role=alert], .field-error').first().waitFor();
    await entryIsGet(page, 'a new password');
  });

  async function refuseAll(page: Page, forms: typeof members, least = 400): Promise<void> {
    for (const [path, values] of forms) {
      await page.goto(url + path);
      const answers: number[] = [];
      const note = (response: Response) => {
        if (response.request().isNavigationRequest()) answers.push(response.status());
      };
      page.on('response', note);
      await send(page, values);
      page.off('response', note);
      // The form was refused, and a redirect led to the page that says so.
      expect([path, answers[0], (answers.at(-1) ?? 0) >= least]).toEqual([path, 303, true]);
      await entryIsGet(page, path);
    }
  }

  it('Every refused form of a user leaves a GET in the history', async () => {
    const page = await newPage();
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), url);
    await refuseAll(page, members);
  });

  it('Declining the terms of service leaves a GET in the history', async () => {
    const page = await newPage();
    await goOnAs(page, await foyer.signedIn(await foyer.addUser({ acceptedTosVersion: null })), url);
    await refuseAll(page, [['/tos', { decision: 'decline' }]], 200);
  });
});
