import { findUser } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('the language of a user on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const german = { headers: { 'accept-language': 'de-DE,de;q=0.9' } };
  const langOf = async (browser: Browser, path = '/tos', options = german) =>
    /<html lang="(\w+)"/.exec(await (await browser.get(path, options)).text())?.[1];
  const localeOf = async (id: string) => (await findUser(foyer.deps.database.db, toUserId(id)))?.locale;
  const choose = (browser: Browser, lang: string) => browser.post('/language', { lang, redirect: '/tos' });

  it('A user without a chosen language gets that of the browser', async () => {
    const user = await foyer.addUser();
    expect(await localeOf(user.id)).toBeNull();
    expect(await langOf(await foyer.signedIn(user))).toBe('de');
  });

  it('A chosen language is stored with the user and applies in other browsers', async () => {
    const user = await foyer.addUser();
    const first = await foyer.signedIn(user);
    const answer = await choose(first, 'fr');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/\/tos$/);
    expect(await localeOf(user.id)).toBe('fr');
    const second = await foyer.signedIn(user);
    expect(await langOf(second)).toBe('fr');
    expect(await langOf(second, '/no-such-page')).toBe('fr');
    expect(await langOf(second, '/sandbox/main')).toBe('fr');
    // Changed there, it is changed everywhere that has not chosen for itself.
    const third = await foyer.signedIn(user);
    await choose(second, 'nl');
    expect(await langOf(third)).toBe('nl');
  });

  it('A language that was chosen in this browser wins over that of the user', async () => {
    const user = await foyer.addUser({ locale: 'fr' });
    const visitor = foyer.browser();
    await choose(visitor, 'nl');
    expect(await langOf(visitor)).toBe('nl');
    await visitor.post('/sign-in', { username: user.email, password: 'correct horse 9' });
    expect(await langOf(visitor)).toBe('nl');
    expect(await localeOf(user.id)).toBe('fr');
  });

  it('The choice of a visitor or of an unknown language changes no user', async () => {
    const user = await foyer.addUser({ locale: 'fr' });
    await choose(foyer.browser(), 'nl');
    expect(await localeOf(user.id)).toBe('fr');
    const member = await foyer.signedIn(user);
    expect((await choose(member, "de'; drop table users")).status).toBe(400);
    expect(await localeOf(user.id)).toBe('fr');
  });

  it('An unsupported language of a user is ignored in favour of the browser’s', async () => {
    const user = await foyer.addUser({ locale: 'xx' });
    expect(await langOf(await foyer.signedIn(user))).toBe('de');
  });

  it('Attack: a cross-site page cannot change the language', async () => {
    const user = await foyer.addUser({ locale: 'fr' });
    const member = await foyer.signedIn(user);
    const answer = await member.post(
      '/language',
      { lang: 'nl' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    );
    expect(answer.status).toBe(403);
    expect(await localeOf(user.id)).toBe('fr');
  });
});
