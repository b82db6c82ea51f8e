/** Names come from strangers: characters that control a terminal are replaced. */
const steering = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
export const printable = (text: string) => text.replace(steering, '\u2423');

const width = (text: string) => [...text].length;
const pad = (text: string, to: number) => text + ' '.repeat(Math.max(0, to - width(text)));

function aligned(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, width(cell));
  }
  return rows
    .map((row) =>
      row
        .map((cell, index) => pad(cell, widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Columns under headings. @param none stands for a table without rows */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], none?: string): string {
  if (rows.length === 0 && none !== undefined) return none;
  const visible = rows.map((row) => row.map((cell) => (cell === '' ? '-' : printable(cell))));
  return aligned([headings.map((heading) => heading.toUpperCase()), ...visible]);
}

/** Labels with their values; a list has one line per item, absent values are omitted. */
export function facts(
  pairs: readonly (readonly [label: string, value: string | readonly string[] | undefined])[],
): string {
  const rows = pairs.flatMap(([label, value]) => {
    const values = typeof value === 'string' ? [value] : (value ?? []);
    return values.filter((one) => one !== '').map((one, index) => [index === 0 ? label : '', printable(one)]);
  });
  return aligned(rows);
}

/** The texts whose condition holds. */
export const present = (...texts: (string | false | undefined)[]): string[] =>
  texts.filter((text) => typeof text === 'string');

/** `2 sessions`, `1 session`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2026-11-21 09:30:00 UTC` */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Times in JSON are seconds since the epoch, as in tokens (RFC 7519's NumericDate). */
export const numericDate = (ms: number) => Math.floor(ms / 1000);
