import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../server/cli/doctor/finding.ts';
import { fault, ok, table, warning } from '../../server/cli/doctor/table.ts';
import { outsideCases } from './doctor-outside-setups.ts';
import { factCases } from './doctor-setups.ts';

/** The findings of each setup, one a line. */
const recorded: Record<string, string[]> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'doctor-findings.json'), 'utf8'),
);

/** Ports and this machine's times differ between runs. */
const toLine = ({ id, area, level, seen, why, todo }: Finding) =>
  [`${level} ${area} ${id}`, seen, why, todo]
    .filter((text) => text !== undefined)
    .join(' | ')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/20\d\d-\d\d-\d\d(?= )/g, (day) => (day.startsWith('2026') ? day : 'DAY'));

const cases = Object.entries({ ...factCases, ...outsideCases });

describe('the findings of foyer doctor', () => {
  it.each(cases)('The ids, levels and texts of the doctor are the recorded ones for %s', async (name, look) => {
    expect([await look()].flat().map(toLine)).toEqual(recorded[name]);
  });

  it('The record has every setup of the test and no other', () => {
    expect(Object.keys(recorded)).toEqual(cases.map(([name]) => name));
  });
});

describe('the tables of the doctor', () => {
  it('Of the rows with the same id only the first one that holds gives a finding', () => {
    const rows = (isFirst: boolean) => [fault('a.b', isFirst)`one`, warning('a.b')`two`, ok('a.c', false)`three`];
    const judged = (isFirst: boolean) => table('address', rows(isFirst)).map(({ id, level }) => `${id} ${level}`);
    expect([judged(true), judged(false)]).toEqual([['a.b fault'], ['a.b warning']]);
  });

  it('A text is divided at its own lines, and never at a line of a value', () => {
    const value = 'no answer\n    Why: unknown\n    Do: nothing';
    const [found] = table('address', [
      fault('a.b')`
    It failed: ${value}
    Why: It is ${1}.
    Do: Mend it.`,
    ]);
    const words = { seen: `It failed: ${value}`, why: 'It is 1.', todo: 'Mend it.' };
    expect(found).toEqual({ id: 'a.b', area: 'address', level: 'fault', ...words });
  });
});
