import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { languages } from '../../server/http/index.ts';
import { findLegalFaults } from '../../server/load-settings.ts';
import { findImprintFaults, loadLegal, shippedLegalDir } from '../../server/sign-in/index.ts';

const values = { brand: 'Brook & Co', publicUrl: 'https://login.example.com' };

describe('the documents that come with Foyer', () => {
  const legal = loadLegal(shippedLegalDir, values);

  it('The shipped documents exist in every language, filled in', () => {
    expect(legal.version).toEqual({ number: 1, label: '1.0.0' });
    for (const lang of languages) {
      for (const document of [legal.terms(lang), legal.imprint(lang), legal.accessibility(lang)]) {
        const html = [document.intro, ...document.sections.map(({ body }) => body)].join('\n');
        expect(document.lang).toBe(lang);
        expect(document.title).not.toBe('');
        expect(html).not.toMatch(/\{\{|\}\}/);
        expect(html).toContain(document === legal.terms(lang) ? 'Brook &amp; Co' : 'login.example.com');
      }
      expect(legal.terms(lang).sections).toHaveLength(8);
    }
    const hashes = languages.map((lang) => legal.terms(lang).hash);
    expect(new Set(hashes).size).toBe(languages.length);
  });
});

describe('an operator’s own documents', () => {
  let dir: string;
  const write = (path: string, text: string) => {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  const terms = (version: string, text = 'Be kind.') =>
    `---\nversion: ${version}\nlabel: ${version}.0.0\n---\n\n# Terms\n\n${text}\n`;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-legal-'));
    write('en/terms.md', terms('2'));
    write('en/imprint.md', '# Imprint\n\nBrook Ltd.\n');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('An operator’s documents replace missing languages and state the version in force', () => {
    write('de/imprint.md', '# Impressum\n\nBrook GmbH.\n');
    const legal = loadLegal(dir, values);
    expect(legal.version).toEqual({ number: 2, label: '2.0.0' });
    expect(legal.terms('nl').lang).toBe('en');
    expect(legal.imprint('de')).toMatchObject({ lang: 'de', title: 'Impressum' });
    expect(legal.imprint('fr').title).toBe('Imprint');
  });

  it('A folder without a statement on accessibility shows the shipped one, in the visitor’s language', () => {
    expect(loadLegal(dir, values).accessibility('de').title).toBe('Barrierefreiheit');
    write('en/accessibility.md', '# Our barriers\n\nNone.\n');
    expect(loadLegal(dir, values).accessibility('de').title).toBe('Our barriers');
  });

  it('A document of an editor of Windows is read, and one in another encoding than UTF-8 is refused', () => {
    const hash = loadLegal(dir, values).terms('en').hash;
    write('en/terms.md', `\uFEFF${terms('2')}`);
    expect(loadLegal(dir, values).terms('en').hash).toBe(hash);
    const file = join(dir, 'en/imprint.md');
    writeFileSync(file, '# Imprint\n\nCaf\u00e9 Brook\n', 'latin1');
    expect(() => loadLegal(dir, values)).toThrow(`${file} is no UTF-8 text: save it as UTF-8`);
  });

  it('The hash of a document changes when a letter changes', () => {
    const before = loadLegal(dir, values).terms('en').hash;
    write('en/terms.md', terms('2', 'Be kind!'));
    expect(loadLegal(dir, values).terms('en').hash).not.toBe(before);
  });

  it('Attack: script, HTML and dangerous links in a document reach no page', () => {
    write(
      'en/terms.md',
      terms(
        '2',
        '<script>alert(1)</script> <b onclick="x()">b</b> [a](javascript:alert(1)) ![i](https://evil.example/i.png)',
      ),
    );
    const { intro } = loadLegal(dir, values).terms('en');
    expect(intro).not.toMatch(/<script|<b |<img|href="javascript/i);
    expect(intro).toContain('&lt;script&gt;');
  });

  it('Faulty documents are refused with all faults at once', () => {
    rmSync(join(dir, 'en/imprint.md'));
    write('de/terms.md', terms('3'));
    write('fr/terms.md', '# Sans version\n');
    write('nl/terms.md', '---\nversion: 2\nlabel: 2.0.0\n---\nNo title, {{nothing}}.\n');
    const load = () => loadLegal(dir, values);
    expect(load).toThrow(/en\/imprint\.md is missing/);
    expect(load).toThrow(/do not say one version/);
    expect(load).toThrow(/fr\/terms\.md: its head must say version/);
    expect(load).toThrow(/nl\/terms\.md: must begin with a title/);
    expect(load).toThrow(/\{\{nothing\}\} means nothing here/);
  });

  it('The terms can name the day of a change; a day that does not exist, or another one in a language, is a fault', () => {
    const dated = (date: string) => terms('2').replace('\n---\n\n#', `\ndate: ${date}\n---\n\n#`);
    write('en/terms.md', dated('2026-11-01'));
    expect(loadLegal(dir, values).version).toEqual({ number: 2, label: '2.0.0', date: '2026-11-01' });
    write('de/terms.md', dated('2026-11-02'));
    expect(() => loadLegal(dir, values)).toThrow(/do not say one version: .*2 \(2\.0\.0\) 2026-11-01, .*2026-11-02/);
    for (const day of ['2026-02-30', '1.11.2026', '']) {
      write('de/terms.md', dated(day));
      expect(() => loadLegal(dir, values)).toThrow(/de\/terms\.md: date: must be a day, as in 2026-11-01/);
    }
  });

  it('A summary of changes is optional, and one about another version is a fault', () => {
    expect(loadLegal(dir, values).changes('en')).toBeUndefined();
    const summary = (version: string) => `---\nversion: ${version}\n---\n\n# Changes\n\nTeams for {{brand}}.\n`;
    write('de/terms-changes.md', summary('2'));
    expect(loadLegal(dir, values).changes('de')).toMatchObject({ lang: 'de', title: 'Changes' });
    expect(loadLegal(dir, values).changes('nl')).toBeUndefined();
    write('en/terms-changes.md', summary('2'));
    expect(loadLegal(dir, values).changes('nl')).toMatchObject({ lang: 'en' });
    write('fr/terms-changes.md', summary('1'));
    write('nl/terms-changes.md', 'No head.');
    const load = () => loadLegal(dir, values);
    expect(load).toThrow(/fr\/terms-changes\.md: its head must say version: 2, as the terms do; it says "1"/);
    expect(load).toThrow(/nl\/terms-changes\.md: must begin with a title/);
  });

  it('An imprint that is the shipped one, in any language and with other line breaks, or a draft, is a fault in production', () => {
    expect(findImprintFaults(undefined)).toEqual([
      expect.stringMatching(/^is not set, so the imprint names no operator/),
    ]);
    expect(findImprintFaults(dir)).toEqual([]);
    const german = readFileSync(join(shippedLegalDir, 'de', 'imprint.md'), 'utf8');
    write('nl/imprint.md', german.replaceAll('\n', '\r\n'));
    write('de/imprint.md', '# Impressum\n\nMax Mustermann, Musterstraße 1.\n');
    write('fr/imprint.md', '# Mentions\n\nTODO\n');
    expect(findImprintFaults(dir)).toEqual([
      expect.stringMatching(/de\/imprint\.md has the placeholder "Mustermann"; write who runs this site/),
      expect.stringMatching(/fr\/imprint\.md has the placeholder "TODO"/),
      expect.stringMatching(/nl\/imprint\.md is the imprint that comes with Foyer, and names no operator/),
    ]);
    const values = { LEGAL_DIR: dir, BRAND_NAME: 'Brook', PUBLIC_URL: 'https://login.example.com' };
    expect(findLegalFaults({ ...values, production: true })).toHaveLength(3);
    expect(findLegalFaults({ ...values, production: false })).toEqual([]);
  });

  it('A copy of the shipped documents is a valid start', () => {
    cpSync(shippedLegalDir, dir, { recursive: true });
    expect(loadLegal(dir, values).version.number).toBe(1);
  });
});
