import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { texts } from '../../sandbox/texts.ts';
import { flattenTexts } from './flatten-texts.ts';

const root = resolve(import.meta.dirname, '..', '..');
const sources = globSync('{server,views,client,sandbox,locales}/**/*.{ts,tsx}', { cwd: root }).map((file) =>
  readFileSync(join(root, file), 'utf8'),
);

const hole = /\$\{(?:[^{}]|\{[^}]*\})*\}/;
const escapeDots = (text: string) => text.replaceAll('.', '\\.');

/** Every quoted text of a source that can be a key, with any value for the holes of a template. */
function collectKeys(source: string): (string | RegExp)[] {
  const quoted = [...source.matchAll(/'([\w.-]+)'/g)].map(([, key = '']) => key);
  const templates = [...source.matchAll(/`([\w.-]*(?:\$\{(?:[^{}]|\{[^}]*\})*\}[\w.-]*)+)`/g)].map(([, key = '']) =>
    key.split(hole),
  );
  return [
    ...quoted,
    // A group of texts, chosen in the same source, and the name of one of them: `${group}.title`.
    ...templates.flatMap(([first, end, ...more]) =>
      first === '' && end?.startsWith('.') && more.length === 0 ? quoted.map((group) => group + end) : [],
    ),
    ...templates
      .filter(([first = '']) => first.includes('.'))
      .map((parts) => new RegExp(`^${parts.map(escapeDots).join('[\\w.-]+')}$`)),
  ];
}

const known = sources.flatMap(collectKeys);
const literals = new Set(known.filter((key) => typeof key === 'string'));
const patterns = known.filter((key) => key instanceof RegExp);
const isUsed = (key: string) => literals.has(key) || patterns.some((pattern) => pattern.test(key));

it('Every text is used', () => {
  const keys = [...flattenTexts(texts.en).keys()].map((key) => key.replace(/_(?:one|many|other)$/, ''));
  expect(keys.length).toBeGreaterThan(1_000);
  expect([...new Set(keys)].filter((key) => !isUsed(key))).toEqual([]);
});

it('A key that no source names is found', () => {
  expect(isUsed('signIn.heading')).toBe(true);
  expect(isUsed('signIn.headingOfNoPage')).toBe(false);
});
