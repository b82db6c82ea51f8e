/**
 * The element to focus for a key in a row of elements: the previous or next one (cyclic), Home and End the first and
 * last.
 * @param back, forth the names of the keys
 * @returns undefined for every other key
 */
export function adjacentElement<E extends Element>(
  row: readonly E[],
  key: string,
  [back, forth]: [string, string],
): E | undefined {
  const at = row.indexOf(document.activeElement as E);
  if (key === 'Home') return row[0];
  if (key === 'End') return row.at(-1);
  if (key === forth) return row[(at + 1) % row.length];
  if (key === back) return row.at(at < 0 ? -1 : at - 1);
  return undefined;
}
