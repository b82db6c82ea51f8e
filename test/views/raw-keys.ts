import { texts } from '../../sandbox/texts.ts';

type Node = string | { [key: string]: Node };

function keysOf(node: Node, prefix: string): string[] {
  if (typeof node === 'string') return [prefix];
  return Object.entries(node).flatMap(([key, child]) => keysOf(child, prefix === '' ? key : `${prefix}.${key}`));
}

const keys = new Set(keysOf(texts.en, '').flatMap((key) => [key, key.replace(/_(one|many|other)$/, '')]));

/** What a member reads: text and the attributes that are read out, without markup. */
export function visible(html: string): string {
  const attributes = [...html.matchAll(/ (?:aria-label|placeholder|alt|title)="([^"]*)"/g)].map(([, value]) => value);
  return [html.replaceAll(/<script\b.*?<\/script>|<[^>]*>/gs, ' \n '), ...attributes].join('\n');
}

/** Keys, or parts of keys, that stand where their text should, and values that are missing. */
export function rawKeys(html: string): string[] {
  const text = visible(html);
  const dotted = text.match(/\b[a-z]\w*(?:\.[\w-]+)+/gi) ?? [];
  const namespaces = Object.keys(texts.en);
  return [
    ...dotted.filter((word) => keys.has(word) || namespaces.some((namespace) => word.startsWith(`${namespace}.`))),
    ...(text.match(/\b[A-Z]+(?:_[A-Z]+)*_(?:MESSAGE|EROR)(?:_[A-Z]+)*\b/g) ?? []),
    ...(text.match(/\{\{|\}\}|\$t\(|\bundefined\b|\bNaN\b|\[object/g) ?? []),
  ];
}
