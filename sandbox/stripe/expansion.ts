import { invalid } from './engine/types.ts';

type Json = Record<string, unknown>;
/** The properties to expand, as a tree: `latest_invoice.payments` is { latest_invoice: { payments: {} } }. */
interface Wanted {
  [property: string]: Wanted;
}

/** Properties that Stripe omits unless a request expands them (docs.stripe.com/expand: "Not included by default"). */
const onRequest: Record<string, readonly string[]> = {
  invoice: ['confirmation_secret', 'payments'],
  coupon: ['applies_to', 'currency_options'],
  price: ['currency_options', 'tiers'],
};

const deepest = 4;
/** The maximum that Stripe puts into a list within an object; the others are read from the list's `url`. */
const nestedMost = 10;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function wantedTree(expand: readonly string[]): Wanted {
  const tree: Wanted = {};
  for (const property of expand) {
    const names = property.split('.');
    if (names.length > deepest)
      throw invalid(`You cannot expand more than ${deepest} levels of a property. Property: ${property}`);
    let at = tree;
    for (const name of names) at = at[name] ??= {};
  }
  return tree;
}

/**
 * The view of an object for a request: with expanded ids (docs.stripe.com/api/expanding_objects), and without
 * properties that must be requested.
 * @param find an object by its id
 * @returns a function of an object and the request's `expand`; the object itself is not changed
 * @throws StandInError if a property cannot be expanded
 */
export function createView(find: (id: string) => Json | undefined) {
  function show(value: unknown, tree: Wanted, path: string, nested: boolean): unknown {
    if (Array.isArray(value)) return value.map((each) => show(each, tree, path, true));
    if (!isRecord(value)) return value;
    const hidden = onRequest[String(value.object)] ?? [];
    for (const name of Object.keys(tree)) {
      if (!(name in value) && !hidden.includes(name)) throw cannot(join(path, name));
    }
    const entries = Object.entries(value).flatMap(([name, inner]) => {
      const inside = tree[name];
      if (inside === undefined) return hidden.includes(name) ? [] : [[name, show(inner, {}, join(path, name), true)]];
      const leaf = Object.keys(inside).length === 0;
      if (leaf && isRecord(inner) && !('object' in inner) && !hidden.includes(name)) throw cannot(join(path, name));
      return [[name, expanded(inner, inside, join(path, name))]];
    });
    return cut(Object.fromEntries(entries), nested);
  }

  function expanded(value: unknown, tree: Wanted, path: string): unknown {
    // For a list, each item.
    if (Array.isArray(value)) return value.map((each) => expanded(each, tree, path));
    if (typeof value !== 'string') {
      if (value !== null && !isRecord(value)) throw cannot(path);
      return show(value, tree, path, true);
    }
    const found = find(value);
    if (found === undefined) throw cannot(path);
    return show(found, tree, path, true);
  }

  return (value: unknown, expand: readonly string[] = []): unknown => show(value, wantedTree(expand), '', false);
}

const join = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);
const cannot = (property: string) => invalid(`This property cannot be expanded (${property}).`);

function cut(value: Json, nested: boolean): Json {
  if (!nested || value.object !== 'list' || !Array.isArray(value.data) || value.data.length <= nestedMost) return value;
  return { ...value, data: value.data.slice(0, nestedMost), has_more: true };
}
