import { languages } from '../../server/http/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

describe('the titles of pages with forms', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const titleOf = async (answer: Response) => /<title>([^<]*)/.exec(await answer.text())?.[1];
  const inLanguage = (lang: string) => ({ 'accept-language': lang });

  it.each([
    ['en', 'Error: Sign in · Foyer'],
    ['de', 'Fehler: Anmelden · Foyer'],
    ['fr', 'Erreur\u00a0: Se connecter · Foyer'],
    ['nl', 'Fout: Inloggen · Foyer'],
  ])('The title of a refused form says so first in %s, and a reload has the plain one', async (lang, title) => {
    const browser = foyer.browser();
    const plain = await titleOf(await browser.get('/', { headers: inLanguage(lang) }));
    expect(await titleOf(await browser.post('/sign-in', { username: '', password: '' }, inLanguage(lang)))).toBe(title);
    expect(await titleOf(await browser.get('/', { headers: inLanguage(lang) }))).toBe(plain);
    expect(languages).toContain(lang);
  });

  it('The steps of the sign-up say which step they are', async () => {
    const browser = foyer.browser();
    expect(await titleOf(await browser.get('/signup'))).toBe('Sign up, step 1 of 3 · Foyer');
    await browser.post('/signup', {
      given_name: 'Ida',
      family_name: 'Berg',
      email: 'ida@example.com',
      password: 'plenty of horses 7',
      tos_version: '1',
    });
    expect(await titleOf(await browser.get('/signup/emailCaptured'))).toMatch(/, step 2 of 3 · Foyer$/);
  });

  it('A page of an error has its own title alone', async () => {
    expect(await titleOf(await foyer.browser().get('/no-such-page'))).not.toContain('Error:');
  });
});
