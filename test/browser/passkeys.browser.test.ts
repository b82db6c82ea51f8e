import type { CDPSession, Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { andLoad, atHome, goOnAs, submitSignIn } from './steps.ts';

const backend = anyBackend;

/** A device that unlocks by itself, or not, as Chromium's developer tools make one. */
interface Device {
  /** Whether the user confirms each request at once. */
  touchedAtOnce(yes: boolean): Promise<unknown>;
  passkeys(): Promise<unknown[]>;
}

async function device(page: Page): Promise<Device> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    touchedAtOnce: (enabled) => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
    passkeys: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
  };
}

describe('passkeys', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
    url = sandbox.foyer.url;
  });
  afterAll(() => sandbox?.close());

  const searchApp = (page: Page) => page.getByRole('heading', { name: 'Find your next business partner' });
  const signInByButton = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  async function signOut(page: Page) {
    await page.locator('.menu > summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email or phone').waitFor();
  }
  const becomeMember = async (page: Page, member: User) => goOnAs(page, await sandbox.foyer.signedIn(member), url);
  async function add(page: Page, name: string) {
    await page.goto(`${url}/settings/passkeys/add`);
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create passkey' }).click();
  }

  it('A passkey is added, signs in by button and by autofill, and does not sign in after its removal', async () => {
    const member = await sandbox.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    const page = await newPage();
    const mine = await device(page);
    await becomeMember(page, member);
    await page.goto(`${url}/settings`);
    await page.getByRole('link', { name: 'Add Passkeys' }).click();
    await page.getByRole('link', { name: 'Add a passkey' }).click();
    // A name that tells the device, to begin with.
    expect(await page.getByLabel('Name').inputValue()).toMatch(/Chrome/);
    await page.getByLabel('Name').fill('Red laptop');
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.getByText('The passkey has been added.').waitFor();
    expect(await page.locator('.passkey-name').allTextContents()).toEqual(['Red laptop']);
    expect(await mine.passkeys()).toHaveLength(1);

    // By the button, for a client app, and nothing was typed.
    await mine.touchedAtOnce(false);
    await signOut(page);
    await page.goto(`${sandbox.demoUrl}/sign-in`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await mine.touchedAtOnce(true);
    await signInByButton(page);
    await atHome(page, 'Vera Lindqvist');

    // By autofill: a device that is touched at once chooses what the browser offers.
    await page.context().clearCookies();
    await page.goto(url);
    await searchApp(page).waitFor();

    // A second one in the same place is not made.
    await add(page, 'Again');
    await page.getByText('This device has a passkey for your account already.').waitFor();

    // Renamed and removed in dialogs of the list.
    await page.goto(`${url}/settings/passkeys`);
    await page.getByRole('link', { name: 'Rename Red laptop' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Blue laptop');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The passkey has been renamed.').waitFor();
    await page.getByRole('link', { name: 'Remove Blue laptop' }).click();
    await dialog.getByText('“Blue laptop” won’t sign you in here any more.').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('No passkey yet').waitFor();
    // Else the device would answer the refusal's page at once, and so on.
    await page.addInitScript(() => {
      const get = navigator.credentials.get.bind(navigator.credentials);
      navigator.credentials.get = async (options) =>
        options?.mediation === 'conditional' ? new Promise<never>(() => {}) : get(options);
    });
    await signOut(page);
    await andLoad(page, () => signInByButton(page));
    expect(await page.getByRole('alert').textContent()).toContain('This passkey isn’t known here any more.');
  });

  thorough('A visitor without a passkey gets a message at the button and can still use the password', async () => {
    const page = await newPage();
    // One without any passkey.
    await device(page);
    await page.goto(url);
    await signInByButton(page);
    await page.getByText('No passkey was used. Try again, or use your password.').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await submitSignIn(page);
    await searchApp(page).waitFor();
  });

  it('Passkeys need JavaScript, as the page to add one says', async () => {
    const page = await newPage({ javaScript: false });
    const member = await sandbox.foyer.addUser();
    await becomeMember(page, member);
    await page.goto(`${url}/settings/passkeys/add`);
    expect(await page.getByText('Passkeys need JavaScript, which is switched off').isVisible()).toBe(true);
    await andLoad(page, () => page.getByRole('button', { name: 'Create passkey' }).click());
    expect(await page.getByRole('alert').textContent()).toContain('We didn’t get a passkey from your device.');
  });
});
