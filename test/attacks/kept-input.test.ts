import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"');

/** The language button of a page: the form that it submits, the address, and the names that stay. */
function readButton(html: string) {
  const button = /<button[^>]*value="de"[^>]*>/.exec(html)?.[0] ?? '';
  const action = unescaped(/formAction="([^"]*)"/i.exec(button)?.[1] ?? '');
  const id = / form="([^"]*)"/.exec(button)?.[1] ?? '';
  const form = new RegExp(`<form[^>]* id="${id}".*?</form>`, 's').exec(html)?.[0] ?? '';
  const inputs = form.match(/<(?:input|select|textarea)\b[^>]*>/g) ?? [];
  const names = (list: string[]) => list.flatMap((one) => / name="([^"]*)"/.exec(one)?.[1] ?? []);
  return {
    action,
    id,
    form,
    kept: (new URL(action, 'http://x').searchParams.get('keep') ?? '').split(','),
    names: names(inputs),
    secrets: names(inputs.filter((one) => /type="(?:password|hidden)"|one-time-code|-password"/.test(one))),
  };
}

const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
const visitorPages = ['/', '/signup', '/forgot-password'];
const memberPages = ['/settings/name', '/settings/profile', '/settings/email', '/settings/phone'];

describe('input that stays when another language is chosen', () => {
  let foyer: TestFoyer;
  let user: User;
  let member: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser({ givenName: 'Vera' });
    member = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const bodyOf = async (browser: Browser, path: string) => (await browser.get(path)).text();
  const browserFor = (path: string) => (memberPages.includes(path) ? member : foyer.browser());

  it.each([...visitorPages, ...memberPages])(
    'The buttons of %s submit its form, and name each open field',
    async (path) => {
      const html = await bodyOf(browserFor(path), path);
      const { form, kept, names, secrets } = readButton(html);
      expect(form).not.toBe('');
      expect(kept.length).toBeGreaterThan(0);
      expect(kept.filter((name) => secrets.includes(name))).toEqual([]);
      expect(kept).toEqual(expect.arrayContaining(names.filter((name) => !secrets.includes(name))));
    },
  );

  it.each([...visitorPages, ...memberPages])('%s shows the typed text again in another language', async (path) => {
    const browser = browserFor(path);
    const { action, kept, names, secrets } = readButton(await bodyOf(browser, path));
    const typed = Object.fromEntries(kept.map((name) => [name, name === 'gender' ? '2' : `Typed ${name}`]));
    const hidden = Object.fromEntries(secrets.map((name) => [name, 'a typed secret 9']));
    const answer = await browser.submit(action, { ...typed, ...hidden, lang: 'de' });
    expect(locationOf(answer)).toBe(new URL(path, foyer.url).href);
    const html = await bodyOf(browser, path);
    expect(html).toContain('<html lang="de"');
    const texts = names.filter(
      (name) => kept.includes(name) && !['remember', 'gender', 'locale', 'zoneinfo', 'newsletter'].includes(name),
    );
    for (const name of texts) expect([name, html.includes(`Typed ${name}`)]).toEqual([name, true]);
    // Attack: a password or code that was typed in is on no page of any browser.
    expect(html).not.toContain('a typed secret 9');
    // The next visit shows the stored values.
    expect(await bodyOf(browser, path)).not.toContain('Typed ');
    browser.jar.setCookieSync('foyer_lang=en', foyer.url);
  });

  it('Attack: a language button changes nothing but the language', async () => {
    const { action } = readButton(await bodyOf(member, '/settings/name'));
    await member.submit(action, { given_name: 'Mallory', family_name: 'Mallory', lang: 'fr' });
    const row = await foyer.deps.database.db
      .selectFrom('users')
      .select(['givenName', 'locale'])
      .where('id', '=', user.id)
      .executeTakeFirst();
    expect(row).toEqual({ givenName: 'Vera', locale: 'fr' });
    member.jar.setCookieSync('foyer_lang=en', foyer.url);
  });

  it.each(['password', 'old_password', 'new_password', 'code', 'secret', 'credential', 'totp'])(
    'Attack: an address that asks for the field %s gets nothing of it back',
    async (name) => {
      const browser = foyer.browser();
      const address = `/language?${new URLSearchParams({ redirect: '/', keep: name })}`;
      const answer = await browser.submit(address, { [name]: 'a typed secret 9', lang: 'de' });
      expect(answer.headers.getSetCookie().filter((line) => line.includes('foyer_form_'))).toEqual([]);
      expect(await bodyOf(browser, '/')).not.toContain('a typed secret 9');
    },
  );

  it('Attack: what was typed in one page is not shown on another, nor to another browser or session', async () => {
    const browser = foyer.browser();
    const { action } = readButton(await bodyOf(browser, '/signup'));
    await browser.submit(action, { email: 'ida@example.com', given_name: 'Ida', lang: 'en' });
    for (const path of ['/', '/forgot-password', '/signup?email=other%40example.com'])
      expect([path, (await bodyOf(browser, path)).includes('ida@example.com')]).toEqual([path, false]);
    const thief = foyer.browser();
    for (const [name, value] of Object.entries(await browser.cookies())) {
      if (name.startsWith('foyer_form_')) thief.jar.setCookieSync(`${name}=${value}`, foyer.url);
    }
    await thief.post('/sign-in', { username: user.email, password });
    expect(await bodyOf(thief, '/signup')).not.toContain('ida@example.com');
  });

  it('Attack: another site cannot fill in a form, and no address leads out of this one', async () => {
    const browser = foyer.browser();
    const { action } = readButton(await bodyOf(browser, '/signup'));
    const forged = await browser.submit(action, { email: 'mallory@example.com', lang: 'de' }, foreign);
    expect(forged.status).toBe(403);
    expect(await bodyOf(browser, '/signup')).not.toContain('mallory@example.com');
    const out = `/language?${new URLSearchParams({ redirect: 'https://evil.example/', keep: 'email' })}`;
    expect(locationOf(await browser.submit(out, { email: 'a@example.com', lang: 'de' }))).toBe(`${foyer.url}/`);
  });

  it('Attack: many and long fields are cut, and repeated ones refused', async () => {
    const browser = foyer.browser();
    const names = Array.from({ length: 45 }, (_, at) => `field${at}`);
    const address = (keep: string[]) => `/language?${new URLSearchParams({ redirect: '/', keep: keep.join(',') })}`;
    const long = Object.fromEntries(names.map((name) => [name, 'x'.repeat(300)]));
    const answer = await browser.submit(address(names), { ...long, lang: 'de' });
    expect(answer.status).toBe(303);
    for (const line of answer.headers.getSetCookie()) expect(line.length).toBeLessThan(4_096);
    expect((await bodyOf(browser, '/')).length).toBeGreaterThan(1_000);
    const repeated = 'lang=de&email=a&email=b';
    expect((await browser.submitText(address(['email']), repeated)).status).toBe(400);
  });
});
