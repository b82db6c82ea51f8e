import type { Area, Finding, Level } from './finding.ts';

type Row = Omit<Finding, 'area'> | undefined;

/**
 * A row of a table: its finding, or nothing if it does not hold. The text is written as the report prints it: the
 * observation, a line `Why:` and a line `Do:`. Only the written text is divided at these lines, never a value.
 */
export const row =
  (level: Level) =>
  (id: string, holds = true) =>
  (parts: TemplateStringsArray, ...values: (string | number | undefined)[]): Row => {
    if (!holds) return undefined;
    const texts = [''];
    for (const [index, part] of parts.entries()) {
      const [first = '', ...more] = part.split(/\n *(?:Why|Do): /);
      texts.push(`${texts.pop()}${index === 0 ? first.trimStart() : first}`, ...more);
      texts.push(`${texts.pop()}${index < values.length ? values[index] : ''}`);
    }
    const [seen = '', why, todo] = texts;
    return { id, level, seen, ...(why !== undefined && { why }), ...(todo !== undefined && { todo }) };
  };

export const ok = row('ok');
export const note = row('note');
export const warning = row('warning');
export const fault = row('fault');

/** The findings of the rows that hold: for each id the first. */
export function table(area: Area, rows: readonly Row[]): Finding[] {
  const found = new Map<string, Finding>();
  for (const entry of rows) {
    if (!entry || found.has(entry.id)) continue;
    const { id, ...words } = entry;
    found.set(id, { id, area, ...words });
  }
  return [...found.values()];
}
