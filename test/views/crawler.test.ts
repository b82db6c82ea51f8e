import { type Language, languages } from '../../locales/index.ts';
import { apiReferencePath } from '../../server/http/index.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { rawKeys } from './raw-keys.ts';

/** Where nothing leads by itself: errors, questions, both kinds of 404. */
const unlinked = [
  '/?authorization_code=long-gone',
  '/no-such-page',
  '/settings/no-such-page',
  '/logout?client_id=demo-app',
  '/oauth2/authorize?client_id=unknown-client',
  '/verify-user',
  '/reset-password?username=ida@example.com',
  '/re-authenticate?redirect=/settings',
  '/second-factor',
  '/sign-in/code',
  '/undo-email-change?token=long-gone',
  ...['/account-deletion', '/cancel-factor-reset?done', '/cancel-factor-reset?token=long-gone'],
  '/undo-email-change?done',
  '/signup/emailCaptured',
  '/signup/nothing',
  '/signup/plan/hollyfy_m-99?email=ida@example.com',
  ...['/settings/mfa', '/settings/mfa/totp', '/settings/recovery-codes'],
  '/sandbox/parts',
  '/sandbox/mailbox',
  '/sandbox/mailbox?to=unknown@example.com',
  '/sandbox/mails',
];

interface Visit {
  path: string;
  lang: string | undefined;
  raw: string[];
}

/** Every page of Foyer that can be reached by links from `start`, each once. */
async function crawl(browser: Browser, start: readonly string[], lang: Language): Promise<Visit[]> {
  const waiting = [...start];
  const known = new Set(waiting);
  const visits: Visit[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const response = await browser.get(path, { headers: { 'accept-language': `${lang}-XX,en;q=0.5` } });
    const location = response.headers.get('location');
    const isPage = location === null && response.headers.get('content-type')?.startsWith('text/html');
    const html = isPage ? await response.text() : '';
    const links = [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
    for (const href of location === null ? links : [location]) {
      const next = URL.parse(href, response.url);
      if (next?.origin !== new URL(response.url).origin) continue;
      const address = next.pathname + next.search;
      if (!known.has(address)) waiting.push(address);
      known.add(address);
    }
    if (html !== '') visits.push({ path, lang: /<html lang="(\w+)"/.exec(html)?.[1], raw: rawKeys(html) });
  }
  return visits;
}

describe.each(languages)('a crawler that reads %s', (lang) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, {
      HELP_URL: 'https://help.example/',
      PRIVACY_URL: 'https://www.example.com/privacy',
      BRAND_NAME: 'Maison & Söhne',
      BRAND_ACCENT: '#6d28d9',
    });
  });
  afterAll(() => foyer?.close());

  const shown = (visits: Visit[]) => visits.map(({ path }) => path);
  /** The page of the JSON API is in English, like its document. */
  const expectedLang = ({ path }: Visit) => (path === apiReferencePath ? 'en' : lang);
  const faults = (visits: Visit[]) =>
    visits.filter((visit) => visit.lang !== expectedLang(visit) || visit.raw.length > 0);

  it('The crawler finds no raw key on any page that a visitor can reach', async () => {
    const visits = await crawl(foyer.browser(), ['/', ...unlinked], lang);
    expect(shown(visits)).toEqual(
      expect.arrayContaining([
        '/',
        '/signup',
        '/forgot-password',
        '/tos',
        '/sandbox/search',
        '/no-such-page',
        '/sandbox/parts',
      ]),
    );
    expect(faults(visits)).toEqual([]);
  });

  it('The crawler finds no raw key on any page that a signed-in user can reach', async () => {
    const member = await foyer.addUser();
    const visits = await crawl(await foyer.signedIn(member), ['/', ...unlinked], lang);
    expect(shown(visits)).toEqual(
      expect.arrayContaining([
        '/settings/passkeys',
        '/settings/passkeys/add',
        ...['/sandbox/search', '/sandbox/main', '/sandbox/account', '/tos', '/no-such-page', apiReferencePath],
        ...['/settings', '/settings?tab=user-data', '/settings/name', '/settings/profile', '/settings/password'],
        ...[
          '/settings?tab=device-data',
          '/settings/email',
          '/settings/phone',
          '/settings/data',
          '/settings/delete-account',
        ],
      ]),
    );
    expect(faults(visits)).toEqual([]);
  });

  it('The crawler finds no raw key on the page for new terms', async () => {
    const member = await foyer.addUser({ acceptedTosVersion: null });
    const visits = await crawl(await foyer.signedIn(member), ['/tos'], lang);
    expect(shown(visits)).toContain('/tos');
    expect(faults(visits)).toEqual([]);
  });
});
