import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTextReplacements } from '../../config/texts-folder.ts';
import { texts } from '../../locales/index.ts';
import { translator as sandboxTranslator } from '../../sandbox/texts.ts';
import { replaceTexts, translator } from '../../server/http/index.ts';
import { applyTexts, inspectTexts, loadSettings } from '../../server/load-settings.ts';
import { startFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

const plainFolder = join(import.meta.dirname, '..', '..', 'config', 'texts', 'plain');

describe('texts of an operator', () => {
  let dir: string;
  const write = (path: string, value: unknown) => {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), typeof value === 'string' ? value : JSON.stringify(value));
  };
  const faults = () => inspectTexts({ TEXTS_DIR: dir }).faults.map((text) => text.replace(`${dir}/`, ''));
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-texts-'));
  });
  afterEach(() => {
    rmSync(dir, { recursive: true, force: true });
    replaceTexts(texts);
  });

  it('A replaced text is on the page, in its language alone, and all others stay', async () => {
    write('en/sign-in.json', { heading: 'Hello again, {{x}}'.replace(', {{x}}', ''), passwordHint: '' });
    write('de/sign-in.json', { errors: { usernameEmpty: 'Bitte Adresse angeben.' } });
    expect([faults(), inspectTexts({ TEXTS_DIR: dir }).count]).toEqual([[], 3]);
    // Also a text that was read before.
    const original = translator('en')('signIn.heading');
    expect(original).toBe('Welcome back');
    applyTexts({ TEXTS_DIR: dir });
    expect([texts.en.signIn.heading, translator('en')('signIn.heading')]).toEqual([original, 'Hello again']);
    expect(sandboxTranslator('en')('signIn.heading')).toBe('Hello again');
    const foyer = await startFoyer(anyBackend);
    try {
      const page = await (await foyer.browser().get('/')).text();
      expect(page).toContain('<h1>Hello again</h1>');
      expect(page).not.toMatch(/6 or more characters|passwordHint/);
      expect(page).toContain(texts.en.signIn.submit);
      const german = foyer.browser();
      german.jar.setCookieSync('foyer_lang=de', foyer.url);
      const refused = await (await german.post('/sign-in', { username: '', password: 'x' })).text();
      expect(refused).toContain('Bitte Adresse angeben.');
      expect(refused).toContain(`<h1>${texts.de.signIn.heading}</h1>`);
    } finally {
      await foyer.close();
    }
    replaceTexts(texts);
    expect(translator('en')('signIn.heading')).toBe(original);
  });

  it('Unknown files, languages and keys, wrong kinds, and placeholders are faults, all named together', () => {
    write('en/terms.json', {
      changed: 'New terms.',
      version: 'Version {{label}} of {{date}}',
      accept: '',
      nothing: 'x',
    });
    write('en/sign-in.json', {
      errors: 'x',
      heading: { a: 'b' },
      'errors.usernameEmpty': 'x',
      lead: 'a $t(terms.accept)',
    });
    write('en/pages.json', {});
    write('en/mail.json', '{');
    write('en/sms.json', '[]');
    write('it/terms.json', {});
    expect(faults()).toEqual([
      'TEXTS_DIR: en/mail.json is no JSON',
      'TEXTS_DIR: en/pages.json has the name of no file of locales/en',
      'TEXTS_DIR: en/sign-in.json: errors must be an object',
      'TEXTS_DIR: en/sign-in.json: heading must be a text',
      "TEXTS_DIR: en/sign-in.json: errors.usernameEmpty is no key of Foyer's texts",
      'TEXTS_DIR: en/sign-in.json: lead has "$t(", which means something else here',
      'TEXTS_DIR: en/sms.json is no JSON object',
      'TEXTS_DIR: en/terms.json: changed lacks {{label}}',
      'TEXTS_DIR: en/terms.json: version has {{date}}, which has no value here',
      'TEXTS_DIR: en/terms.json: accept is empty',
      "TEXTS_DIR: en/terms.json: nothing is no key of Foyer's texts",
      'TEXTS_DIR: it is no language; write en, de, fr, nl',
    ]);
    expect(() => loadSettings({ NODE_ENV: 'test', TEXTS_DIR: dir })).toThrow(
      /TEXTS_DIR: .*changed lacks \{\{label\}\}/,
    );
  });

  it('A folder that does not exist is a fault', () => {
    expect(inspectTexts({ TEXTS_DIR: '/nonexistent' }).faults).toEqual([
      'TEXTS_DIR: /nonexistent cannot be read (ENOENT)',
    ]);
  });

  it('Attack: names of JavaScript objects are no keys', () => {
    write('en/terms.json', '{"__proto__": {"polluted": "x"}, "constructor": "x", "toString": "x"}');
    expect(faults()).toHaveLength(3);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('Attack: HTML in a replaced text is shown as text', async () => {
    write('en/sign-in.json', { heading: '<script>alert(1)</script>' });
    applyTexts({ TEXTS_DIR: dir });
    const foyer = await startFoyer(anyBackend);
    try {
      expect(await (await foyer.browser().get('/')).text()).not.toContain('<script>alert');
    } finally {
      await foyer.close();
    }
  });

  it('The plain texts that come with Foyer have no fault, and each replaces another text', () => {
    const { faults, count, texts: plain } = readTextReplacements(plainFolder, texts);
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(25);
    expect(plain).toMatchObject({ en: { signIn: { errors: { usernameEmpty: 'Enter your email or phone.' } } } });
    expect(translator('en')('signIn.errors.usernameEmpty')).not.toBe('Enter your email or phone.');
  });
});
