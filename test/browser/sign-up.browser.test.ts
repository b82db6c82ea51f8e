import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { begin, codeFor, newPassword } from '../sign-up/steps.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { andLoad, atHome, browserLocale, enterCode, fillProfile, submitSignIn } from './steps.ts';

const backend = anyBackend;

let visitors = 0;
const newAddress = () => {
  visitors += 1;
  return `ida${visitors}@example.com`;
};

/** With and without JavaScript, in two languages. The pages are the same, whether an app waits or not: each way is gone once. */
const ways: { lang: Language; javaScript: boolean }[] = [
  { lang: 'en', javaScript: true },
  { lang: 'de', javaScript: true },
  { lang: 'en', javaScript: false },
  { lang: 'de', javaScript: false },
];

describe('sign-up in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
    url = sandbox.foyer.url;
  });
  afterAll(() => sandbox?.close());

  const open = ({ lang, javaScript }: (typeof ways)[number]) => newPage({ locale: browserLocale[lang], javaScript });
  const named = ({ lang, javaScript }: (typeof ways)[number]) =>
    `in ${lang}, ${javaScript ? 'with' : 'without'} JavaScript`;

  const bothScripts = (en: boolean) =>
    ways
      .filter(({ lang, javaScript }) => javaScript === ((lang === 'en') === en))
      .map((way) => ({ name: named(way), way }));

  thorough.each(bothScripts(true))('A sign-up leads to the search app, $name', async ({ way }) => {
    const t = translator(way.lang);
    const email = newAddress();
    const page = await open(way);
    await page.goto(url);
    await page.getByRole('link', { name: t('signIn.createAccount') }).click();
    await fillProfile(page, { email, password: newPassword }, t);
    await enterCode(page, sandbox.foyer, email, t);
    // It goes on by itself where scripts run.
    if (!way.javaScript) await page.getByRole('link', { name: t('signUp.confirmed.continue') }).click();
    await page.getByText(t('sandbox.search.greeting', { name: 'Vera Lindqvist' })).waitFor();
  });

  it.each(bothScripts(false))('A sign-up leads back to the waiting client, $name', async ({ way }) => {
    const t = translator(way.lang);
    const email = newAddress();
    const page = await open(way);
    await page.goto(`${sandbox.demoUrl}/sign-in`);
    await page.getByRole('link', { name: t('signIn.createAccount') }).click();
    await page.getByText(t('signUp.continueTo', { clientName: 'Demo app' })).waitFor();
    await fillProfile(page, { email, password: newPassword }, t);
    await enterCode(page, sandbox.foyer, email, t);
    await page.getByRole('link', { name: t('signUp.confirmed.continue') }).click();
    if (!way.javaScript) await page.getByRole('button', { name: t('oauth.verify.continue') }).click();
    await atHome(page, 'Vera Lindqvist', t);
  });

  it('A whole sign-up in German works by the keyboard alone, and each page has the focus in its field', async () => {
    const email = newAddress();
    const page = await newPage({ locale: browserLocale.de });
    await page.goto(`${url}/signup`);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name') ?? '');
    const typed = { given_name: 'Käthe', family_name: 'Größer', email, password: newPassword };
    expect(await focused()).toBe('given_name');
    for (const [name, text] of Object.entries(typed)) {
      // Between the fields there may be other controls, such as the eye of a password.
      for (let presses = 0; presses < 4 && (await focused()) !== name; presses += 1) await page.keyboard.press('Tab');
      expect(await focused()).toBe(name);
      await page.keyboard.type(text);
    }
    await andLoad(page, () => page.keyboard.press('Enter'));
    await page.locator('[name=code][aria-describedby*="-auto-submit"]').waitFor();
    expect([await page.getAttribute('html', 'lang'), await focused()]).toEqual(['de', 'code']);
    const code = await codeFor(sandbox.foyer, email);
    await andLoad(page, () => page.keyboard.type(code));
    await page.getByText(translator('de')('sandbox.search.greeting', { name: 'Käthe Größer' })).waitFor();
  });

  it('The fields of both names have the same height and the same top when one of them is refused', async () => {
    const t = translator('en');
    const page = await newPage();
    await page.goto(`${url}/signup`);
    const lastName = page.getByLabel(t('signUp.familyName'), { exact: true });
    await lastName.fill('Lindqvist');
    await page.getByRole('button', { name: t('signUp.next') }).click();
    const firstName = page.getByRole('textbox', { name: t('signUp.givenName') });
    await page.locator('[name=given_name][aria-invalid=true]').waitFor();
    const [first, last] = await Promise.all([firstName.boundingBox(), lastName.boundingBox()]);
    expect(first).not.toBeNull();
    expect([last?.y, last?.height]).toEqual([first?.y, first?.height]);
  });

  thorough.each(bothScripts(true))('A sign-up continues after a sign-in on another device, $name', async ({ way }) => {
    const t = translator(way.lang);
    const email = newAddress();
    await begin(sandbox.foyer, sandbox.foyer.browser(), email);
    const page = await open(way);
    await page.goto(url);
    await submitSignIn(page, { email, password: newPassword }, t);
    expect(new URL(page.url()).pathname).toBe('/verify-code');
    await enterCode(page, sandbox.foyer, email, t);
  });

  thorough(
    'A password with an open rule is not sent: the field names the rule, keeps its text and has the focus',
    async () => {
      const page = await newPage();
      await page.goto(`${url}/signup`);
      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') sent.push(request.url());
      });
      await fillProfile(page, { email: newAddress(), password: 'Lindqvist' });
      await page.locator('.field.invalid [name=password]').waitFor();
      expect(await page.locator('#field-password-error').textContent()).toBe('Contains a number or symbol');
      expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('password');
      expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('Lindqvist');
      expect(sent).toEqual([]);
      await page.getByLabel('Password', { exact: true }).fill('x');
      await page.locator('.strength li.met').waitFor();
      expect(await page.locator('.strength li').evaluateAll((items) => items.map((item) => item.className))).toEqual([
        'unmet',
        'unmet',
        'met',
      ]);
    },
  );

  thorough(
    'The form of a wrong address keeps what was entered, and a change of language or tab loses nothing',
    async () => {
      const email = newAddress();
      const page = await newPage();
      await page.goto(`${url}/signup`);
      await fillProfile(page, { email: `not.${email}`, password: newPassword });
      await page.getByRole('link', { name: 'Back' }).click();
      expect(await page.getByLabel('Email').inputValue()).toBe(`not.${email}`);
      await page.getByRole('button', { name: 'Deutsch' }).click();
      await page.getByRole('heading', { name: 'Los geht’s' }).waitFor();
      const t = translator('de');
      await fillProfile(page, { email, password: newPassword }, t);
      await page.getByRole('heading', { name: t('signUp.code.heading') }).waitFor();
      const tab = await page.context().newPage();
      await tab.goto(`${url}/signup/emailCaptured`);
      await enterCode(tab, sandbox.foyer, email, t);
      await andLoad(page, () => page.reload());
      await page.getByText(t('sandbox.search.greeting', { name: 'Vera Lindqvist' })).waitFor();
    },
  );
});
