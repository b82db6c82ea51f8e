import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

const server = resolve(import.meta.dirname, '..', '..', 'server');
const query =
  /\b(?:selectFrom|insertInto|replaceInto|mergeInto|updateTable|deleteFrom|(?:inner|left|right|full|cross)Join)\(\s*\[?\s*'(\w+)/g;

/** The modules whose queries name each table. The store itself has only the schema and its migrations. */
function listModulesByTable(): Map<string, Set<string>> {
  const modules = new Map<string, Set<string>>();
  for (const file of readdirSync(server, { recursive: true, encoding: 'utf8' })) {
    const [module = ''] = file.split(sep);
    if (!/\.tsx?$/.test(file) || module === 'store') continue;
    for (const [, table = ''] of readFileSync(join(server, file), 'utf8').matchAll(query)) {
      modules.set(table, (modules.get(table) ?? new Set()).add(module));
    }
  }
  return modules;
}

it('Only one module reads and writes each table', () => {
  const modules = listModulesByTable();
  expect(modules.get('users')).toEqual(new Set(['users']));
  expect(modules.size).toBeGreaterThan(20);
  expect([...modules].filter(([, names]) => names.size > 1)).toEqual([]);
});
