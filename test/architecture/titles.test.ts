import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

const root = resolve(import.meta.dirname, '..', '..');
const mostCharacters = 120;

interface Title {
  file: string;
  title: string;
}

/** `it` or `thorough`, and their `each(table)` as it is called with a title. */
const isTest = (callee: string) => /^(?:it|thorough)(?:\.each\b|$)/.test(callee);

/** The titles of a file as they are written, with placeholders. */
function listTitles(file: string): Title[] {
  const source = readFileSync(join(root, file), 'utf8');
  const titles: Title[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      if (first === undefined || !isTest(source.slice(callee.start, callee.end))) return;
      const isText = first.type === 'TemplateLiteral' || (first.type === 'Literal' && typeof first.value === 'string');
      if (isText) titles.push({ file, title: source.slice(first.start + 1, first.end - 1) });
    },
  }).visit(parseSync(file, source).program);
  return titles;
}

const titles = globSync('test/**/*.test.{ts,tsx}', { cwd: root }).flatMap(listTitles);
const findWrong = (isRight: (title: string) => boolean) => titles.filter(({ title }) => !isRight(title));

describe('titles of tests', () => {
  it('A title begins like a sentence: with a capital, a number, a placeholder or the name of what is tested', () => {
    const beginning = /^(?:[A-Z0-9%$“"(/<`]|[a-z][\w-]*[=_/A-Z.:-])/;
    expect(findWrong((title) => beginning.test(title))).toEqual([]);
  });

  it('A title has at least three words and no full stop at its end', () => {
    expect(findWrong((title) => title.split(' ').length >= 3 && !title.endsWith('.'))).toEqual([]);
  });

  it(`A title has at most ${mostCharacters} characters`, () => {
    expect(findWrong((title) => title.length <= mostCharacters)).toEqual([]);
  });

  it('The check reads the titles of all test files', () => {
    expect(titles.length).toBeGreaterThan(2_500);
  });
});
