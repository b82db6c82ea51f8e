import { dirname, join } from 'node:path/posix';
import { readSource } from './parsed-source.ts';

/** The files of the project that a file imports, for types as well. */
const listImports = (file: string): string[] =>
  [...readSource(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.tsx?)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  );

/**
 * The groups of files that import each other, directly or by way of others (Tarjan's strongly connected components), each as
 * one text.
 */
export function listImportCycles(files: readonly string[]): string[] {
  const imports = new Map(files.map((file) => [file, listImports(file)]));
  const indexes = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string): void => {
    indexes.set(file, indexes.size);
    lowest.set(file, indexes.get(file) ?? 0);
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!imports.has(next)) continue;
      if (!indexes.has(next)) visit(next);
      if (open.includes(next)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(next) ?? 0));
    }
    if (lowest.get(file) !== indexes.get(file)) return;
    const group = open.splice(open.indexOf(file));
    if (group.length > 1) cycles.push(group.toSorted().join(' ↔ '));
  };
  for (const file of files) if (!indexes.has(file)) visit(file);
  return cycles;
}
