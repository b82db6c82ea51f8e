import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import express from 'express';
import { LanguageDetector } from 'i18next-http-middleware';
import { languages, texts } from '../../locales/index.ts';
import { detectLanguages, hostCookies, requestTraits } from '../../server/http/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

describe('the language of a request', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const langOf = (html: string) => /<html lang="(\w+)"/.exec(html)?.[1];
  /** The language of a page for these headers; the second is that of the user's record. */
  async function languageFor(headers: Record<string, string>, locale?: string) {
    const browser = locale === undefined ? foyer.browser() : await foyer.signedIn(await foyer.addUser({ locale }));
    const cookies = Object.entries(await browser.cookies()).map(([name, value]) => `${name}=${value}`);
    const cookie = [...cookies, headers.cookie].filter((one) => one !== undefined).join('; ');
    const answer = await sendRequest(`${foyer.url}/tos`, { headers: { ...headers, ...(cookie !== '' && { cookie }) } });
    return { lang: langOf(await answer.text()), set: answer.headers.getSetCookie().join() };
  }

  it('The cookie decides before the locale of the user and Accept-Language', async () => {
    const headers = { cookie: 'foyer_lang=nl', 'accept-language': 'de' };
    expect((await languageFor(headers, 'fr')).lang).toBe('nl');
    expect((await languageFor(headers)).lang).toBe('nl');
  });

  it('The locale of the user decides before Accept-Language', async () => {
    expect((await languageFor({ 'accept-language': 'de' }, 'fr')).lang).toBe('fr');
  });

  it('Accept-Language decides for a visitor without a cookie, by its most preferred supported language', async () => {
    expect((await languageFor({ 'accept-language': 'es, fr;q=0.8' })).lang).toBe('fr');
    expect((await languageFor({ 'accept-language': 'en;q=0.3, nl-BE;q=0.9' })).lang).toBe('nl');
  });

  it.each(['?', '&', '?a', '&%', '%'])(
    'Attack: an address that repeats “%s” 16,000 times takes no time that grows with its square',
    (part) => {
      const address = `/oauth2/authorize?${part.repeat(16_000)}`;
      const request = new IncomingMessage(new Socket());
      // The minimum counts: other processes and the compiler only add time. The square takes 100 ms and more.
      const times = Array.from({ length: 5 }, () => {
        const from = process.cpuUsage();
        expect(requestTraits(hostCookies(false), request, address)).toEqual({ popup: false });
        return process.cpuUsage(from).user / 1_000;
      });
      expect(Math.min(...times)).toBeLessThan(40);
    },
  );

  it('A request without any language gets English', async () => {
    expect((await languageFor({ 'accept-language': '' })).lang).toBe('en');
    expect((await languageFor({ 'accept-language': 'pl' })).lang).toBe('en');
  });

  it.each(['xx', 'cimode', 'dev', 'de-CH', '__proto__', '%3Cscript%3Ede', '', 'd'.repeat(3_000)])(
    'The cookie value “%s” is no language and has no effect',
    async (value) => {
      const headers = { cookie: `foyer_lang=${value}`, 'accept-language': 'nl' };
      expect((await languageFor(headers)).lang).toBe('nl');
      expect((await languageFor(headers, 'fr')).lang).toBe('fr');
    },
  );

  it.each(languages)('Pages of refused requests have title, heading and text in %s', async (lang) => {
    const { errors } = texts[lang];
    const cases = [
      { path: '/sign-in', method: 'POST', status: 403, said: errors.crossSite },
      { path: '/tos', method: 'DELETE', status: 405, said: errors.methodNotAllowed },
      { path: '/oauth2/authorize?client_id=unknown', method: 'GET', status: 400, said: errors.unregisteredClient },
    ];
    for (const { path, method, status, said } of cases) {
      const origin = said === errors.crossSite ? 'https://evil.example' : foyer.url;
      const headers = { accept: 'text/html', origin, 'accept-language': lang };
      const answer = await sendRequest(foyer.url + path, { method, headers });
      const html = await answer.text();
      expect([path, answer.status, langOf(html)]).toEqual([path, status, lang]);
      expect(html).toContain(`<title>${said.title} · Foyer</title>`);
      expect(html).toMatch(new RegExp(`<h1[^>]*>${said.title}</h1>`));
      expect(html).toContain(said.message);
    }
  });

  it('An Accept-Language header of 10,000 characters gives a page in English', async () => {
    expect((await languageFor({ 'accept-language': `${'xx,'.repeat(3_300)}de` })).lang).toBe('en');
  });

  it('Detection sets no cookie: only POST /language does', async () => {
    for (const cookie of ['', 'foyer_lang=fr']) {
      expect((await languageFor({ 'accept-language': 'de', cookie })).set).not.toContain('foyer_lang');
    }
    const browser = foyer.browser();
    const answer = await browser.post('/language', { lang: 'fr', redirect: '/tos' });
    expect(answer.headers.getSetCookie().join()).toContain('foyer_lang=fr');
  });

  it('The LanguageDetector of i18next-http-middleware finds the language of a page', async () => {
    const { detect } = LanguageDetector.prototype;
    LanguageDetector.prototype.detect = () => 'nl';
    try {
      expect((await languageFor({ 'accept-language': 'de' })).lang).toBe('nl');
      // A language without texts never leaves the detector.
      LanguageDetector.prototype.detect = () => 'cimode';
      expect((await languageFor({ 'accept-language': 'de' })).lang).toBe('en');
    } finally {
      LanguageDetector.prototype.detect = detect;
    }
  });

  it('A handler reads the typed req.t and req.language', async () => {
    const app = express();
    detectLanguages(app, hostCookies(false));
    app.get('/', (req, res) => {
      const title: string = req.t('signIn.title');
      // @ts-expect-error: the type check of the tests fails when an unknown key is no error
      const unknown = req.t('signIn.titel');
      res.json({ title, unknown, language: req.language });
    });
    const server = app.listen(0);
    try {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      const answer = await sendRequest(`http://localhost:${port}/`, { headers: { 'accept-language': 'de-AT' } });
      expect(await answer.json()).toEqual({ title: 'Anmelden', unknown: 'signIn.titel', language: 'de' });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
