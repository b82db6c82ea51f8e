export type TextTree = string | { [key: string]: TextTree };

/** All texts of a tree by their dotted keys. */
export function flattenTexts(node: TextTree, prefix = ''): Map<string, string> {
  if (typeof node === 'string') return new Map([[prefix, node]]);
  return new Map(
    Object.entries(node).flatMap(([key, child]) => [...flattenTexts(child, prefix === '' ? key : `${prefix}.${key}`)]),
  );
}
