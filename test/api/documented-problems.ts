import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = join(import.meta.dirname, '..', '..', 'docs', 'json-api.md');

/** The table of problem types of docs/json-api.md: type and status of each row. */
export function documentedProblems(): { type: string; status: number }[] {
  const rows = readFileSync(page, 'utf8').matchAll(/^\| `(\w+)` \| ([45]\d\d) \| [^|]+ \| [^|]+ \|$/gm);
  return [...rows].map(([, type = '', status]) => ({ type, status: Number(status) }));
}
