import { listSources, readSource } from './parsed-source.ts';

const maxLines = 300;
const countLines = (text: string) => text.replace(/\n$/, '').split('\n').length;

describe('The length of test files', () => {
  it(`No file of the tests is longer than ${maxLines} lines`, () => {
    expect(listSources('test').filter((file) => countLines(readSource(file)) > maxLines)).toEqual([]);
  });

  it('The check of the length counts lines without the empty end of a file', () => {
    expect(countLines('a\nb\n')).toBe(2);
    expect(listSources('test').length).toBeGreaterThan(400);
  });
});
