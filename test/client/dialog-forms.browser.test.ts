import type { Page, Route } from 'playwright-core';
import { echo, scripted, visitsForTests } from './visit.ts';

type Answer = Parameters<Route['fulfill']>[0];

/** A part as the server sends it: the form again, with the errors of both fields. */
const refused = {
  status: 400,
  contentType: 'text/html',
  body: `<section data-lift=""><h2>Edit your name</h2><form method="post">
    <label>Given name <input name="given_name" value="Vera" autofocus></label>
    <label>Family name <input name="family_name" aria-invalid="true"></label>
    <label>Nickname <input name="nickname" aria-invalid="true"></label>
    <p>Enter your family name.</p><button>Save</button></form></section>`,
};
const step = {
  contentType: 'text/html',
  body: '<section data-lift=""><h2>Enter the code</h2><form method="post"><label>Code <input name="code" autofocus></label><button>Confirm</button></form></section>',
};
const leadsTo = (address: string): Answer => ({ status: 204, headers: { 'Foyer-Location': address } });

describe('the form of a dialog', () => {
  const { newPage, at, open, takeFaults } = visitsForTests();
  const dialog = (page: Page) => page.getByRole('dialog');
  const link = (page: Page) => page.getByRole('link', { name: 'Edit name' });
  const save = (page: Page) => dialog(page).getByRole('button', { name: 'Save' });

  /** Opens the dialog on a page whose form is answered so, and counts what is sent. */
  async function opened(answer: (route: Route) => Promise<void>, visitor = {}) {
    const page = await open('dialog', visitor);
    const sent: Array<string | null> = [];
    await page.route('**/edit-name', (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      sent.push(route.request().postData());
      return answer(route);
    });
    await link(page).click();
    await dialog(page).waitFor();
    return { page, sent };
  }
  const answered = (answer: Answer) => opened((route) => route.fulfill(answer));
  const isFocused = (page: Page, name: string) =>
    page.waitForFunction((wanted) => document.activeElement?.getAttribute('name') === wanted, name);
  /** Marks the page, to see whether another one is loaded. */
  const mark = (page: Page) => page.evaluate(() => document.documentElement.setAttribute('data-same', ''));
  const isSame = (page: Page) => page.evaluate(() => document.documentElement.hasAttribute('data-same'));

  it('A refused form stays in the dialog with all its errors, what was typed, and the focus on the first error', async () => {
    const { page, sent } = await answered(refused);
    await dialog(page).getByLabel('Given name').fill('Vera');
    await save(page).click();
    await dialog(page).getByText('Enter your family name.').waitFor();
    await isFocused(page, 'family_name');
    expect(await dialog(page).locator('[aria-invalid=true]').count()).toBe(2);
    expect(await dialog(page).getByLabel('Given name').inputValue()).toBe('Vera');
    expect(sent).toEqual(['given_name=Vera']);
    expect(new URL(page.url()).pathname).toBe('/sample/dialog');
    // It can be sent again.
    await page.unroute('**/edit-name');
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
  });

  it('After the change the dialog closes, and the page below shows it without being left, with the focus on the link', async () => {
    const { page } = await answered(leadsTo('/sample/dialog?notice=name'));
    await mark(page);
    const entries = await page.evaluate(() => history.length);
    const below = page.waitForResponse((response) => response.url().endsWith('?notice=name'));
    await save(page).click();
    expect((await below).request().headers()).not.toHaveProperty('foyer-part');
    await dialog(page).waitFor({ state: 'detached' });
    await page.waitForURL(/notice=name/);
    expect(await isSame(page)).toBe(true);
    expect(await page.evaluate(() => history.length)).toBe(entries);
    await page.waitForFunction(() => document.activeElement?.getAttribute('href') === '/edit-name');
    // What was put there works.
    await page.keyboard.press('Enter');
    await dialog(page).waitFor();
  });

  it('The next step is shown in the dialog, and when it is closed then, the page below is shown as it is now', async () => {
    const { page } = await answered(leadsTo('/sample/code'));
    await page.route('**/sample/code', (route) => route.fulfill(step));
    await save(page).click();
    await page.getByRole('dialog', { name: 'Enter the code' }).waitFor();
    await isFocused(page, 'code');
    const below = page.waitForResponse((response) => new URL(response.url()).pathname === '/sample/dialog');
    await page.keyboard.press('Escape');
    await below;
    await dialog(page).waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.getAttribute('href') === '/edit-name');
  });

  it.each(['/echo?redirect=settings', 'http://127.0.0.1:{port}/echo?provider=google'])(
    'An answer that leads to a sign-in or to another site leaves: %s; Back shows a form that can be sent',
    async (target) => {
      const page = await open('dialog');
      const address = target.replace('{port}', new URL(page.url()).port);
      await page.route('**/edit-name', (route) =>
        route.request().method() === 'POST' ? route.fulfill(leadsTo(address)) : route.fallback(),
      );
      await link(page).click();
      await save(page).click();
      await page.locator('#echo').waitFor();
      expect(page.url()).toBe(new URL(address, page.url()).href);
      await page.goBack();
      await scripted(page);
      if ((await dialog(page).count()) === 0) await link(page).click();
      expect(await save(page).getAttribute('aria-busy')).toBe(null);
    },
  );

  it('Without a network the dialog says so, keeps what was typed, and sends again', async () => {
    const { page, sent } = await opened((route) => route.abort('internetdisconnected'));
    await dialog(page).getByLabel('Given name').fill('Vera');
    await save(page).click();
    await dialog(page).getByRole('alert').getByText('Not sent').waitFor();
    expect(await dialog(page).getByLabel('Given name').inputValue()).toBe('Vera');
    expect(takeFaults()).toEqual([expect.stringContaining('ERR_INTERNET_DISCONNECTED')]);
    await page.unroute('**/edit-name');
    await save(page).click();
    await dialog(page).waitFor({ state: 'detached' });
    expect(sent).toHaveLength(1);
  });

  it.each([
    [429, 'Too many attempts. Try again in a minute.'],
    [503, 'We cannot save this at the moment.'],
  ])('An answer %s that is no form is told in the dialog, which keeps what was typed', async (status, text) => {
    const { page } = await answered({ status, contentType: 'text/html', body: `<div data-problem="">${text}</div>` });
    await dialog(page).getByLabel('Given name').fill('Vera');
    await save(page).click();
    await dialog(page).getByRole('alert').getByText(text).waitFor();
    expect(await dialog(page).getByLabel('Given name').inputValue()).toBe('Vera');
    if (status >= 500) expect(takeFaults()).toHaveLength(1);
  });

  it('A double click, and Enter meanwhile, send the form once; its button is busy', async () => {
    let answer = () => {};
    const { page, sent } = await opened(async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.fulfill(leadsTo('/sample/dialog'));
    });
    await save(page).dblclick();
    await dialog(page).getByLabel('Given name').press('Enter');
    await page.locator('dialog button[aria-busy=true]').waitFor();
    answer();
    await dialog(page).waitFor({ state: 'detached' });
    expect(sent).toHaveLength(1);
  });

  it.each([
    { outcome: 'refused', answer: refused },
    { outcome: 'done', answer: leadsTo('/sample/dialog?notice=name') },
  ])('Escape while the form is sent closes the dialog, and the page shows what came of it: $outcome', async (row) => {
    let answer = () => {};
    const { page } = await opened(async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.fulfill(row.answer);
    });
    await mark(page);
    await save(page).click();
    await page.locator('dialog form[aria-busy=true]').waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    const response = page.waitForResponse('**/edit-name');
    answer();
    await response;
    if (row.outcome === 'done') await page.waitForURL(/notice=name/);
    expect(await dialog(page).count()).toBe(0);
    expect(await isSame(page)).toBe(true);
  });

  it.each(['data-stays', 'data-leaves'])('A form with %s is sent by the browser itself', async (attribute) => {
    const { page, sent } = await answered({ contentType: 'text/html', body: '<pre id="echo">"sent"</pre>' });
    await page.locator('dialog form').evaluate((form, name) => form.setAttribute(name, ''), attribute);
    await save(page).click();
    expect(await echo(page)).toBe('sent');
    expect(sent).toHaveLength(1);
  });

  it('The part is fetched ahead when the pointer or the focus is on the link, once, and the click asks for nothing more', async () => {
    const page = await newPage();
    const asked: Array<string | undefined> = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/edit-name')) asked.push(request.headers()['foyer-part']);
    });
    await page.goto(at('dialog'));
    await scripted(page);
    const ahead = page.waitForResponse('**/edit-name');
    await link(page).focus();
    await ahead;
    await link(page).hover();
    await link(page).click();
    await dialog(page).waitFor();
    expect(asked).toEqual(['ahead']);
  });

  it('A page that may show something once is asked for by the click alone', async () => {
    const page = await newPage();
    const asked: Array<string | undefined> = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/edit-name')) asked.push(request.headers()['foyer-part']);
    });
    await page.goto(at('dialog of something shown once'));
    await scripted(page);
    await link(page).hover();
    await page.locator('[data-awake]').first().waitFor();
    expect(asked).toEqual([]);
    await link(page).click();
    await dialog(page).waitFor();
    expect(asked).toEqual(['dialog']);
  });

  it('A redirect is not followed: the browser goes to the page itself', async () => {
    const page = await open('dialog');
    const acted: string[] = [];
    await page.route('**/edit-name', (route) =>
      route.fulfill(
        'foyer-part' in route.request().headers()
          ? { status: 303, headers: { location: '/echo?acts=1' } }
          : { contentType: 'text/html', body: '<p>The page itself</p>' },
      ),
    );
    page.on('request', (request) => {
      if (request.url().includes('acts')) acted.push(request.url());
    });
    await link(page).click();
    await page.getByText('The page itself').waitFor();
    expect(acted).toEqual([]);
  });
});
