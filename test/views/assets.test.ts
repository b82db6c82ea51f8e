import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sandboxStylesheet } from '../../sandbox/extensions.ts';
import { loadAssets } from '../../server/http/assets.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'foyer-assets-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('loadAssets', () => {
  const withManifest = (name: string, text: string) => {
    const folder = join(dir, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'manifest.json'), text);
    return folder;
  };

  it('A missing build gives an error that names the command to run', () => {
    expect(() => loadAssets(join(dir, 'nowhere'))).toThrow(/not built.*npm run build/);
  });

  it.each([
    ['broken', '{'],
    ['foreign', '{"a":1}'],
    ['list', '[]'],
  ])('A %s manifest gives an error', (name, text) => {
    expect(() => loadAssets(withManifest(name, text))).toThrow(/not a Vite manifest/);
  });

  it('A missing stylesheet gives an error', () => {
    expect(() => loadAssets(withManifest('empty', '{}'))).toThrow(/foyer\.css/);
  });
});

it('Each class name in the views has a rule in a stylesheet', () => {
  const root = join(import.meta.dirname, '..', '..');
  const read = (pattern: string) =>
    globSync(pattern, { cwd: root }).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  // Mails and the pages of other providers have their rules in their own modules.
  const sheets = [
    ...read('{client,sandbox/client}/**/*.css'),
    ...read('{views/mail/document.tsx,sandbox/views/**/style.ts}'),
  ];
  const rules = new Set(sheets.flatMap(({ text }) => [...text.matchAll(/\.([a-z][\w-]*)/g)].map(([, name]) => name)));
  const found = read('{views,sandbox/views}/**/*.tsx').flatMap(({ file, text }) =>
    [...text.matchAll(/className=(?:"([^"]*)"|\{([^}]*)\})/g)].flatMap(([, plain, computed = '']) =>
      (plain ?? [...computed.matchAll(/'([^']*)'/g)].map(([, name]) => name).join(' '))
        .split(' ')
        .map((name) => ({ file, name })),
    ),
  );
  expect(found.length).toBeGreaterThan(200);
  expect(found.filter(({ name }) => name !== '' && !rules.has(name))).toEqual([]);
});

describe('the client build', () => {
  // As `npm test` has built it, and as the server offers it.
  const out = join(import.meta.dirname, '..', '..', 'dist', 'client');
  const bytes = (url: string) => readFileSync(join(out, url.replace('/assets/', '')));

  it('The build has the stylesheet, the font to preload, the icon and every entry, all under /assets/', () => {
    const assets = loadAssets(out);
    expect(assets.css).toMatch(/^\/assets\/foyer-[\w-]+\.css$/);
    expect(assets.style(sandboxStylesheet)).toMatch(/^\/assets\/sandbox-[\w-]+\.css$/);
    expect(assets.fonts).toEqual([expect.stringMatching(/^\/assets\/figtree-latin-wght-normal-[\w-]+\.woff2$/)]);
    expect(assets.icon).toMatch(/^\/assets\/icon-[\w-]+\.svg$/);
    for (const url of [assets.css, ...assets.fonts, assets.icon ?? '', assets.script('verify-user')]) {
      expect(bytes(url).length).toBeGreaterThan(100);
    }
    expect(() => assets.script('nothing')).toThrow(/client\/entries\/nothing\.ts/);
    expect(() => assets.style('client/nothing.css')).toThrow(/client\/nothing\.css/);
  });

  it('The stylesheet contains nothing that only the sandbox shows', () => {
    const assets = loadAssets(out);
    expect(bytes(assets.style(sandboxStylesheet)).toString()).toContain('.ribbon{');
    expect(bytes(assets.css).toString()).not.toMatch(/\.ribbon\{|\.specimen|\.mail-frame/);
  });

  it('The stand-in for Stripe.js is a plain script without imports, beside the assets of the product', () => {
    const script = readFileSync(join(out, 'stand-in', 'stripe-js.js'), 'utf8');
    expect(script).not.toMatch(/\bimport\b|\bexport\b/);
    expect(gzipSync(script).length).toBeGreaterThan(1_000);
  });

  it('Each entry has less than 1 KB and no imports', () => {
    const assets = loadAssets(out);
    for (const entry of ['busy', 'verify-user']) {
      const code = bytes(assets.script(entry));
      expect(code.length).toBeLessThan(1000);
      expect(code.toString()).not.toMatch(/\bimport\b/);
    }
  });

  it('The stylesheet is small and loads nothing from elsewhere and nothing inline', () => {
    const css = bytes(loadAssets(out).css);
    // All parts of all pages: loaded once, then kept.
    expect(gzipSync(css).length).toBeLessThan(11_000);
    for (const [, url] of css.toString().matchAll(/url\(([^)]*)\)/g)) expect(url).toMatch(/^["']?\/assets\//);
    expect(css.toString()).not.toContain('data:');
  });
});
