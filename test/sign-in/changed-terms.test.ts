import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Language } from '../../server/http/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';

/** A folder with terms of version 2, of 1 November 2026, and the given further files. */
function legalDir(files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'foyer-changed-terms-'));
  const all = {
    'en/terms.md': '---\nversion: 2\nlabel: 2.0.0\ndate: 2026-11-01\n---\n\n# Terms\n\nBe kind.\n',
    'en/imprint.md': '# Imprint\n\nBrook Ltd.\n',
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

const summaries = {
  'en/terms-changes.md': '---\nversion: 2\n---\n\n# Changes\n\nYou may now <b>share</b> a team.\n\n## Money\n\nNone.\n',
  'de/terms-changes.md': '---\nversion: 2\n---\n\n# Änderungen\n\nTeams sind erlaubt.\n',
};

const resign = 'Please read and accept our Terms of Service to continue.';
const accepted = 'You’ve accepted the Terms of Service.';
/** Without the markup of its parts. */
const textOf = async (browser: Browser, path: string) => wordsOf(await (await browser.get(path)).text());

describe('changed terms of service', () => {
  const dir = legalDir(summaries);
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, { LEGAL_DIR: dir });
  });
  afterAll(async () => {
    await foyer?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const member = async (acceptedTosVersion: number | null) => {
    const user = await foyer.addUser({ acceptedTosVersion });
    return foyer.signedIn(user);
  };
  const inLanguage = (browser: Browser, lang: Language) => {
    browser.jar.setCookieSync(`foyer_lang=${lang}`, foyer.url);
    return browser;
  };
  const accept = (browser: Browser, path = '/tos') => browser.post(path, { decision: 'accept', version: '2' });

  it.each([
    ['en', 'Our Terms of Service changed on November 1, 2026. Please read and accept version 2.0.0.'],
    [
      'de',
      'Unsere Nutzungsbedingungen haben sich am 1. November 2026 geändert. Bitte lesen Sie Version 2.0.0 und stimmen Sie ihr zu.',
    ],
    [
      'fr',
      'Nos conditions d’utilisation ont changé le 1er novembre 2026. Lisez et acceptez la version 2.0.0 pour continuer.',
    ],
    [
      'nl',
      'Onze gebruiksvoorwaarden zijn op 1 november 2026 gewijzigd. Lees en accepteer versie 2.0.0 om verder te gaan.',
    ],
  ] as const)('A member who has accepted an earlier version reads the day of the change (%s)', async (lang, text) => {
    expect(await textOf(inLanguage(await member(1), lang), '/tos')).toContain(text);
  });

  it('The page begins with the summary of changes, in the member’s language, else in English, above the text', async () => {
    const english = await textOf(await member(1), '/tos');
    expect(english).toMatch(/Changes You may now <b&gt;share<\/b&gt; a team\. Money None\. Be kind\./);
    expect(await textOf(inLanguage(await member(1), 'de'), '/tos')).toContain(
      'Änderungen Teams sind erlaubt. Be kind.',
    );
    expect(await textOf(inLanguage(await member(1), 'nl'), '/tos')).toContain('Changes You may now');
  });

  it('The summary stays when the member declines, or posts an older version', async () => {
    const browser = await member(1);
    const declined = await browser.post('/tos', { decision: 'decline' });
    expect(wordsOf(await declined.text())).toContain('You may now');
    const older = await browser.post('/tos', { decision: 'accept', version: '1' });
    expect(wordsOf(await older.text())).toContain('Please read and accept version 2.0.0.');
  });

  it('A member who accepts for the first time, one who reads, and a visitor are not told of a change', async () => {
    const first = await textOf(await member(null), '/tos');
    expect(first).toContain(resign);
    for (const page of [first, await textOf(await member(2), '/tos'), await textOf(foyer.browser(), '/tos')]) {
      expect(page).not.toMatch(/changed on|Changes/);
    }
  });

  it('After the acceptance the terms say so for five seconds, once', async () => {
    const browser = await member(1);
    expect(locationOf(await accept(browser))).toBe(`${foyer.url}/tos`);
    const html = await (await browser.get('/tos')).text();
    expect(wordsOf(html)).toContain(accepted);
    expect(html).toMatch(/durationMs(?:&quot;|"):5000/);
    expect(await textOf(browser, '/tos')).not.toContain(accepted);
  });

  it('With a redirect the target page says so for five seconds, once', async () => {
    const browser = await member(1);
    const target = `${foyer.url}/settings`;
    expect(locationOf(await accept(browser, `/tos?${new URLSearchParams({ redirect: target })}`))).toBe(target);
    const html = await (await browser.get('/settings')).text();
    expect(wordsOf(html)).toContain(accepted);
    expect(html).toMatch(/durationMs(?:&quot;|"):5000/);
    expect(await textOf(browser, '/settings')).not.toContain(accepted);
  });

  it('On the way to a client app the page with the Continue button says so above it, and the code follows', async () => {
    const client = await relyingParty(foyer, await foyer.addClient());
    const begun = await client.begin();
    const browser = await member(1);
    const terms = new URL(
      locationOf(await browser.get(locationOf(await browser.get(begun.url, { from: 'cross-site' })))),
    );
    expect(terms.pathname).toBe('/tos');
    const verifyUser = locationOf(await accept(browser, `${terms.pathname}${terms.search}`));
    const html = await (await browser.get(verifyUser)).text();
    const [form = ''] = /<form[^>]*class="waiting".*?<\/form>/s.exec(html) ?? [];
    expect(form.indexOf(`<p>${accepted}</p>`)).toBeGreaterThan(0);
    expect(form.indexOf(`<p>${accepted}</p>`)).toBeLessThan(form.indexOf('>Continue</button>'));
    expect(html).not.toContain('class="snackbar"');
    const callback = locationOf(await browser.get(await store(browser, verifyUser)));
    expect((await client.redeem(callback, begun)).claims()?.sub).toBeDefined();
  });
});

describe('changed terms without a day', () => {
  it('The page names the version alone', async () => {
    const foyer = await startFoyer(anyBackend, {}, { terms: { number: 2, label: '2.0.0' } });
    try {
      const page = await textOf(await foyer.signedIn(await foyer.addUser({ acceptedTosVersion: 1 })), '/tos');
      expect(page).toContain('Our Terms of Service have changed. Please read and accept version 2.0.0.');
    } finally {
      await foyer.close();
    }
  });
});
