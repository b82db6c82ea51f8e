import { findStaleFiles } from './baseline.ts';
import { lookAtEveryPage } from './every-page.ts';
import { tour } from './tour.ts';

describe('every page fits, and axe finds nothing: part 1', () => {
  it('No file of the baseline is of a page that is gone, and no two pages share one', () => {
    const names = tour(() => {
      throw new Error('no page is opened');
    }).flatMap(({ name, otherWords }) => (otherWords ? [] : [name]));
    expect(findStaleFiles(names)).toEqual([]);
    expect(new Set(names.map((name) => name.toLowerCase().replaceAll(/[^\p{L}\d]+/gu, '-'))).size).toBe(names.length);
  });

  lookAtEveryPage((_stop, index) => index % 2 === 0);
});
