import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>;
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { dependencies?: object; devDependencies?: object }>;
};

/** Every file that may name a package, below these places. */
function filesBelow(places: string[]): string[] {
  return places.flatMap((place) => {
    const path = join(root, place);
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((name) => !/(^|\/)(node_modules|dist)\//.test(name) && /\.(tsx?|mjs|js|css)$/.test(name))
      .map((name) => join(path, name));
  });
}

/** The packages that texts name as modules: imports, dynamic imports, requires, resolves and styles. */
function named(places: string[]): Set<string> {
  const found = new Set<string>();
  for (const file of filesBelow(places)) {
    const specifiers = readFileSync(file, 'utf8').matchAll(
      /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\(\s*|\bresolve\(\s*|@import\s+|url\()['"]([^'"./#][^'"]*)['"]/g,
    );
    for (const [, specifier = ''] of specifiers) {
      const parts = specifier.split('/');
      found.add(specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? ''));
    }
  }
  return found;
}

/** Started as programs, or read as files, by scripts and tests. */
const programs = new Set([
  '@biomejs/biome',
  'node',
  'rolldown',
  'typescript',
  'vite',
  'jest',
  'jest-light-runner',
  'axe-core',
]);
const product = named(['server', 'client', 'views', 'config', 'locales']);
const everywhere = named([
  ...['server', 'client', 'views', 'config', 'locales', 'sandbox', 'test', 'scripts', 'examples'],
  ...['vite.config.ts', 'jest.config.mjs'],
]);

/** `@types/pg` describes `pg`; `@types/node` describes Node. */
const described = (name: string) => name.slice('@types/'.length).replace('__', '/');

describe('the packages of package.json', () => {
  it.each(Object.keys(dependencies))('%s is imported by the product', (name) => {
    expect(product).toContain(name);
  });

  it.each(Object.keys(devDependencies))('%s is imported somewhere or is a program', (name) => {
    if (programs.has(name)) return;
    // Both describe global names.
    if (['@types/node', '@types/jest'].includes(name)) return;
    expect(everywhere).toContain(name.startsWith('@types/') ? described(name) : name);
  });

  it('The packages of package.json are those of the lock file', () => {
    const [locked] = [lock.packages['']];
    expect(locked).toMatchObject({ dependencies, devDependencies });
    expect(Object.keys(locked?.dependencies ?? {})).toHaveLength(Object.keys(dependencies).length);
    expect(Object.keys(locked?.devDependencies ?? {})).toHaveLength(Object.keys(devDependencies).length);
  });

  it('The search finds a package that is imported and does not find one that is not', () => {
    expect(everywhere).toContain('kysely');
    expect(everywhere).not.toContain('pino-http');
  });
});
