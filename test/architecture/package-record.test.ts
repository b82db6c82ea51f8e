import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const isThere = (path: string) => existsSync(join(import.meta.dirname, '../..', path));
const record = read('docs/decisions/0017-packages.md');
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
const versions = new Map(Object.entries({ ...dependencies, ...devDependencies }));

/** The cells of the rows of the table whose heading begins so. */
function rowsOf(heading: string): string[][] {
  const lines = record.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
const inCode = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** The versions that the record states and package.json does not have. */
function findOtherVersions(cells: readonly string[][]): string[] {
  return cells.flatMap(([cell = '']) => {
    const [, name = '', stated] = /^`([^`]+)`(?: ([\d.]+))?$/.exec(cell) ?? [];
    const present = versions.get(name)?.replace(/^[\^~]/, '');
    if (present === undefined) return [`${cell} is not in package.json`];
    return stated === undefined || `${present}.`.startsWith(`${stated}.`) ? [] : [`${cell} is ${present}`];
  });
}

describe('the record of packages (docs/decisions/0017-packages.md)', () => {
  const packages = rowsOf('package');
  const ownCode = rowsOf('own code');

  it('Every package of the record is in package.json, in the stated version', () => {
    expect(packages.length).toBeGreaterThan(15);
    expect(findOtherVersions(packages)).toEqual([]);
  });

  it('The comparison finds a package that is gone and another version', () => {
    expect(findOtherVersions([['`pino-http`'], ['`connect-redis` 9'], ['`express` 5']])).toEqual([
      '`pino-http` is not in package.json',
      `\`connect-redis\` 9 is ${versions.get('connect-redis')}`,
    ]);
  });

  it('The prescribed packages are those of the record, used or with the reason', () => {
    const prescribed =
      'express express-session connect-redis ioredis passport passport-saml passport-google-oauth20 passport-facebook passport-amazon react react-dom stripe @sendgrid/mail i18next-http-middleware helmet supertest jest typescript'.split(
        ' ',
      );
    const named = new Set(packages.flatMap((cells) => cells.flatMap(inCode)));
    expect(prescribed.filter((name) => !named.has(name))).toEqual([]);
  });

  it('Each test that the record names is there, and so is each folder and file of the product', () => {
    const paths = packages
      .flatMap((cells) => cells.flatMap(inCode))
      .filter((text) => /^(?:test|server|client|views|sandbox|scripts)\//.test(text));
    expect(paths.length).toBeGreaterThan(20);
    const missing = paths.filter((path) => ![path, `${path}.test.ts`, `${path}.contract.test.ts`].some(isThere));
    expect(missing).toEqual([]);
  });

  it('No library is in package.json that the record says is not used, or is removed', () => {
    const unused = ownCode.flatMap(([, , libraries = '']) =>
      libraries.split(',').map((name) => name.trim().replaceAll('`', '')),
    );
    const removed = inCode(/\*\*Removed[^\n]*/.exec(record)?.[0] ?? '');
    expect([unused.length > 15, removed.length > 2]).toEqual([true, true]);
    expect([...unused, ...removed].filter((name) => versions.has(name))).toEqual([]);
  });
});
