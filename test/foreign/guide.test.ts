import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianClients } from './debian-clients.ts';
import { npmClients } from './npm-clients.ts';
import { pages } from './page-app.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/client-app-guide.md'), 'utf8');
const rows = [...guide.matchAll(/^\| ([^|]+) \| [^|]+ \| (run|not run here)(?: \([^|]+\))? \|$/gm)];
const isRun = (row: RegExpExecArray) => row[2] === 'run';

/** The guide has @auth/express together with the library below it. */
const toRow = (name: string) => name.replace('@auth/express', '@auth/core, @auth/express');

it('The guide says of exactly these libraries that their lines are run here', () => {
  const run = [...npmClients, ...debianClients].map(({ name }) => toRow(name));
  expect(
    rows
      .filter(isRun)
      .map(([, name]) => name)
      .toSorted(),
  ).toEqual([...run, ...pages, 'curl'].toSorted());
});

it('The guide has the lines of more than 40 libraries', () => {
  expect(rows.length).toBeGreaterThan(40);
});
