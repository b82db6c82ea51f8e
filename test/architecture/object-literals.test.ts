import { isNode, listSources, parseNodes, readSource } from './parsed-source.ts';

/** The spread of an object literal copies the properties to no purpose: they can stand in the outer object. */
const countLiteralSpreads = (file: string, text: string): number =>
  parseNodes(file, text).filter(
    ({ type, argument }) => /^(?:JSX)?Spread/.test(type) && isNode(argument) && argument.type === 'ObjectExpression',
  ).length;

describe('Object literals', () => {
  it('No object or element spreads an object literal into itself', () => {
    const sources = listSources('server', 'views', 'client', 'config', 'locales', 'sandbox', 'test', 'examples');
    expect(sources.filter((file) => countLiteralSpreads(file, readSource(file)) > 0)).toEqual([]);
  });

  it('The check of object literals finds their spreads, and accepts conditional ones', () => {
    expect(countLiteralSpreads('a.ts', 'const a = { ...{ b, c }, d };')).toBe(1);
    expect(countLiteralSpreads('a.tsx', 'const a = <A {...{ b, c }} />;')).toBe(1);
    expect(countLiteralSpreads('a.ts', 'const a = { ...b, ...(c && { d }), ...(e ? { f } : {}) };')).toBe(0);
  });
});
