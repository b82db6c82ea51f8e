import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');
const ignored = new Set(['node_modules', 'dist', 'data', '.git']);

function listFiles(folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (ignored.has(entry.name)) return [];
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

/** Names that look like a file of this tree and are none. */
const otherNames = new Map([
  ['-store.ts', 'the ending of a name'],
  ['sandbox-stripe.json', 'the server writes it'],
  ['foyer.env', 'the operator writes it'],
  ['terms-changes.md', 'the operator may write it'],
  ['config.json', 'the example writes it'],
  ['process.env', 'a variable of Node.js'],
  ['Messages.json', 'a path of the API of Twilio'],
  ['manifest.json', 'the build writes it'],
]);

const files = listFiles();
const sources = files.filter(
  (file) => /\.(ts|tsx|mjs|css)$/.test(file) && file !== 'test/architecture/references.test.ts',
);
const pages = files.filter(
  (file) => file.endsWith('.md') && file !== 'CHANGELOG.md' && file !== 'docs/specification.md',
);
const comments = (text: string) => (text.match(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g) ?? []).join('\n');
const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```/gm, '');
const texts = [
  ...sources.map((file) => ({ file, text: comments(readFileSync(join(root, file), 'utf8')) })),
  ...pages.map((file) => ({ file, text: withoutCode(readFileSync(join(root, file), 'utf8')) })),
];

const fileName = /(?<![\w:/.-])((?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:ts|tsx|mjs|md|css|json|env|sh))(?![\w/-])/g;
const isThere = (name: string) => files.some((file) => file === name || file.endsWith(`/${name}`));

function findMissingFiles(text: string): string[] {
  const names = [...text.matchAll(fileName)].map(([, name = '']) => name);
  return names.filter((name) => !isThere(name) && !otherNames.has(basename(name)));
}

const headings = (page: string) => readFileSync(join(root, 'docs', page), 'utf8').match(/^(?:#+ \d+|\d+)\. /gm) ?? [];
const numbersOf = new Map(
  ['security.md', 'specification.md'].map((page) => [
    page,
    new Set(headings(page).map((line) => line.replaceAll(/\D/g, ''))),
  ]),
);

/** "`page.md`, rules 1 and 3" and "`page.md`, section 7". */
function findMissingSections(text: string): string[] {
  const flat = text.replaceAll(/\n\s*(?:\*|\/\/)? ?/g, ' ');
  const references = flat.matchAll(/`?([\w-]+\.md)`?,? (?:rules?|sections?) (\d+)(?:(?:, \d+)* and (\d+))?/g);
  return [...references]
    .filter(([, page = '', ...numbers]) =>
      numbers.some((number) => number !== undefined && !numbersOf.get(page)?.has(number)),
    )
    .map(([reference]) => reference);
}

/** Whether it is a folder of tests, or a test file without its ending. */
const isTest = (name: string) => files.some((file) => file.startsWith(`${name}.`) || file.startsWith(`${name}/`));

/** "`test/oidc/tabs`", without the ending of a file. */
function findMissingTests(text: string): string[] {
  const names = [...text.matchAll(/`(test\/[\w/-]+)`/g)].map(([, name = '']) => name.replace(/\/$/, ''));
  return names.filter((name) => !isTest(name));
}

/** The last column of `threats.md`: a name without a folder is a file of `test/attacks/`. */
function findMissingAttacks(table: string): string[] {
  const rows = table.split('\n').filter((line) => line.startsWith('|'));
  const names = rows.slice(2).flatMap(
    (row) =>
      row
        .split(' | ')
        .at(-1)
        ?.match(/(?<=`)[\w-]+(?=`)/g) ?? [],
  );
  return names.filter((name) => !isTest(`test/attacks/${name}`));
}

describe('references in comments and docs', () => {
  it('Every file that a comment or a page names exists in the repository', () => {
    const missing = texts.flatMap(({ file, text }) => findMissingFiles(text).map((name) => `${file}: ${name}`));
    expect(missing).toEqual([]);
  });

  it('Every rule and section that a comment or a page names exists', () => {
    const missing = texts.flatMap(({ file, text }) => findMissingSections(text).map((name) => `${file}: ${name}`));
    expect(missing).toEqual([]);
    expect(texts.some(({ text }) => /security\.md`, rule \d/.test(text))).toBe(true);
  });

  it('Every test that a page names exists', () => {
    const missing = pages.flatMap((page) =>
      findMissingTests(readFileSync(join(root, page), 'utf8')).map((name) => `${page}: ${name}`),
    );
    expect(missing).toEqual([]);
    expect(findMissingAttacks(readFileSync(join(root, 'docs/threats.md'), 'utf8'))).toEqual([]);
  });

  it('The check finds a file, a test, a rule and a section that do not exist', () => {
    expect(findMissingTests('`test/oidc/no-such-test` and `test/oidc/tabs`')).toEqual(['test/oidc/no-such-test']);
    const table =
      '| Attack | Rule | Test |\n| --- | --- | --- |\n| a | b | `grants`, `no-such-attack`; `test/oidc/tabs` |';
    expect(findMissingAttacks(table)).toEqual(['no-such-attack']);
    expect(findMissingFiles('See `no-such-file.ts` and server/app.ts.')).toEqual(['no-such-file.ts']);
    expect(findMissingSections('(`security.md`, rule 99)')).toHaveLength(1);
    expect(findMissingSections('(`specification.md`, section 7)')).toEqual([]);
    expect(findMissingSections('(`architecture.md`, section 4)')).toHaveLength(1);
  });

  it('No name in the list of exceptions exists in the repository', () => {
    expect([...otherNames.keys()].filter((name) => existsSync(join(root, name)))).toEqual([]);
  });
});
