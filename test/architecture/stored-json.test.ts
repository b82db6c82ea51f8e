import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');
const files = readdirSync(join(root, 'server'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => join('server', name));

/** `parseStored` checks with a schema; the result of `parseUnknownJson` has the type unknown. */
const parsers = ['server/shared/json.ts', 'server/store/stored-json.ts'];

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
const findIn = (pattern: RegExp, paths: readonly string[]) =>
  paths.filter((file) => pattern.test(withoutComments(readFileSync(join(root, file), 'utf8'))));

describe('JSON in the server', () => {
  it('Only the two helpers call JSON.parse, because its result has no type', () => {
    expect(findIn(/JSON\.parse/, files).toSorted()).toEqual(parsers);
  });

  it('No parsed JSON gets a type by a cast instead of a check', () => {
    const cast = /\b(?:JSON\.parse|parseUnknownJson)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)*\s+as\s/;
    expect('row && (JSON.parse(box.open(row.text, aad(id))) as Row)').toMatch(cast);
    expect(findIn(cast, files)).toEqual([]);
  });
});

describe('Branded types', () => {
  it('Only shared/ids.ts makes a text an id by a cast', () => {
    const names = [...readFileSync(join(root, 'server/shared/ids.ts'), 'utf8').matchAll(/^export type (\w+)/gm)];
    expect(names.length).toBeGreaterThan(5);
    const cast = new RegExp(`\\bas (?:readonly )?(?:${names.map(([, name]) => name).join('|')})\\b(?!,| \\})`);
    expect(findIn(cast, files)).toEqual(['server/shared/ids.ts']);
  });
});
