import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { loadAssets, renderDocument } from '../../server/http/index.ts';
import { everyPage } from '../views/every-page.tsx';
import { contextFor } from '../views/samples/context.ts';
import { builtClientDir } from './build.ts';

const untouchedMaxBytes = 3_000;
const firstTouchMaxBytes = 10 * 1024;
const hydratedMaxBytes = 20_000;
const loaderMaxBytes = 1_000;
const islandMaxBytes = 1_500;

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
}

describe('the sizes of the built client', () => {
  let manifest: Record<string, Chunk>;
  /** Of every page of the product, by its name. */
  const html = new Map<string, string>();
  beforeAll(() => {
    manifest = JSON.parse(readFileSync(join(builtClientDir, 'manifest.json'), 'utf8'));
    const ctx = { ...contextFor('en'), assets: loadAssets(builtClientDir) };
    for (const [name, { page, head }] of Object.entries(everyPage(ctx))) {
      html.set(name, renderDocument(ctx, page, { title: '', ...head }));
    }
  });

  const gzipped = (file: string) => statSync(join(builtClientDir, `${file}.gz`)).size;
  const chunk = (key: string): Chunk => {
    const found = manifest[key];
    if (!found) throw new Error(`there is no ${key} in the build`);
    return found;
  };
  const islands = () => Object.keys(manifest).filter((key) => key.startsWith('client/islands/'));
  const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);

  const htmlOf = (name: string): string => {
    const found = html.get(name);
    if (found === undefined) throw new Error(`there is no page ${name}`);
    return found;
  };
  const keysOfIslands = (name: string) =>
    [...htmlOf(name).matchAll(/data-island="([^"]+)"/g)].map(([, key]) => key ?? '');
  const namedFiles = (name: string) =>
    [...htmlOf(name).matchAll(/<(?:script|link)\b[^>]*"\/assets\/([\w-]+\.js)"/g)].map(([, file]) => file ?? '');

  /** The scripts that a page names, uncompressed, with all that they import at once. */
  const untouchedBytes = (name: string): number => {
    const files = namedFiles(name);
    const all = Object.values(manifest).filter(({ file }) => files.includes(file));
    expect(all.every(({ imports = [] }) => imports.length === 0)).toBe(true);
    return sum(all.map(({ file }) => statSync(join(builtClientDir, file)).size));
  };

  it('The sign-in page loads under 3 KB uncompressed before any interaction', () => {
    expect(untouchedBytes('sign-in')).toBeGreaterThan(500);
    expect(untouchedBytes('sign-in')).toBeLessThan(untouchedMaxBytes);
  });

  it('Every other page has the same limit before any interaction, and a page without islands loads nothing', () => {
    for (const name of html.keys()) {
      expect(untouchedBytes(name)).toBeLessThan(untouchedMaxBytes);
    }
    expect(untouchedBytes('not-found')).toBe(0);
  });

  /** The scripts of a page when all of it has been touched: those that it names, its islands, and whatever these load. */
  const hydratedFiles = (name: string): string[] => {
    const waiting = keysOfIslands(name).map((island) => `client/islands/${island}.tsx`);
    const known = new Set(waiting);
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
      const { imports = [], dynamicImports = [] } = chunk(key);
      for (const next of [...imports, ...dynamicImports]) {
        if (!known.has(next)) waiting.push(next);
        known.add(next);
      }
    }
    return [...new Set([...namedFiles(name), ...[...known].map((key) => chunk(key).file)])];
  };

  it('A page with every island hydrated loads under 20 KB with gzip', () => {
    const sizes = [...html.keys()].map((name) => sum(hydratedFiles(name).map(gzipped)));
    expect(Math.max(...sizes)).toBeGreaterThan(10_000);
    expect(Math.max(...sizes)).toBeLessThan(hydratedMaxBytes);
  });

  it('The loader has a few hundred bytes, each island is small, and none imports more than the shared file', () => {
    expect(gzipped(chunk('client/hydrate.ts').file)).toBeLessThan(loaderMaxBytes);
    expect(chunk('client/hydrate.ts').imports ?? []).toEqual([]);
    expect(islands().length).toBe(readdirSync(join('client', 'islands')).length);
    for (const key of islands()) {
      expect(gzipped(chunk(key).file)).toBeLessThan(islandMaxBytes);
      expect(chunk(key).imports).toEqual([expect.stringMatching(/^_shared-/)]);
    }
  });

  it('The first touch of any island loads at most 10 KiB with brotli', () => {
    const packed = (file: string) => statSync(join(builtClientDir, `${file}.br`)).size;
    for (const key of islands()) {
      const files = [chunk(key), ...(chunk(key).imports ?? []).map(chunk)].map(({ file }) => file);
      expect(sum(files.map(packed))).toBeLessThanOrEqual(firstTouchMaxBytes);
    }
  });

  it('Every compressible file has copies in brotli and gzip beside it', () => {
    const names = readdirSync(builtClientDir);
    for (const name of names.filter((name) => /\.(css|js|svg)$/.test(name))) {
      const content = readFileSync(join(builtClientDir, name));
      expect(brotliDecompressSync(readFileSync(join(builtClientDir, `${name}.br`))).equals(content)).toBe(true);
      expect(gunzipSync(readFileSync(join(builtClientDir, `${name}.gz`))).equals(content)).toBe(true);
      expect(statSync(join(builtClientDir, `${name}.br`)).size).toBeLessThan(content.length);
    }
    expect(names.filter((name) => /woff2\.|json\./.test(name))).toEqual([]);
  });

  it('The built client contains nothing that only the server or a developer needs', () => {
    for (const name of readdirSync(builtClientDir).filter((name) => name.endsWith('.js'))) {
      const code = readFileSync(join(builtClientDir, name), 'utf8');
      expect(code).not.toMatch(/i18next|renderToString|react-dom-client\.development|\beval\(|new Function\(/);
    }
  });
});
