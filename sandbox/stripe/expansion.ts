import { invalid } from './engine/types.ts';

type Json = Record<string, unknown>;
/** The properties to expand, as a tree: `latest_invoice.payments` is { latest_invoice: { payments: {} } }. */
interface ExpandTree {
  [property: string]: ExpandTree;
}

/** Properties that Stripe omits unless a request expands them (docs.stripe.com/expand: "Not included by default"). */
const onRequest: Record<string, readonly string[]> = {
  invoice: ['confirmation_secret', 'payments'],
  coupon: ['applies_to', 'currency_options'],
  price: ['currency_options', 'tiers'],
};

const maxDepth = 4;
/** The maximum that Stripe puts into a list within an object; the others are read from the list's `url`. */
const maxNestedItems = 10;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function toExpandTree(expand: readonly string[]): ExpandTree {
  const tree: ExpandTree = {};
  for (const property of expand) {
    const names = property.split('.');
    if (names.length > maxDepth)
      throw invalid(`You cannot expand more than ${maxDepth} levels of a property. Property: ${property}`);
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
  /** @param at the path of the value, and whether it is within another object */
  function render(value: unknown, tree: ExpandTree, at: { path: string; nested: boolean }): unknown {
    const { path, nested } = at;
    if (Array.isArray(value)) return value.map((each) => render(each, tree, { path, nested: true }));
    if (!isRecord(value)) return value;
    const hidden = onRequest[String(value.object)] ?? [];
    for (const name of Object.keys(tree)) {
      if (!(name in value) && !hidden.includes(name)) throw cannotExpand(join(path, name));
    }
    const entries = Object.entries(value).flatMap(([name, inner]) => {
      const inside = tree[name];
      const innerPath = join(path, name);
      if (inside === undefined) {
        return hidden.includes(name) ? [] : [[name, render(inner, {}, { path: innerPath, nested: true })]];
      }
      const leaf = Object.keys(inside).length === 0;
      if (leaf && isRecord(inner) && !('object' in inner) && !hidden.includes(name)) throw cannotExpand(innerPath);
      return [[name, expand(inner, inside, innerPath)]];
    });
    return truncateList(Object.fromEntries(entries), nested);
  }

  function expand(value: unknown, tree: ExpandTree, path: string): unknown {
    // For a list, each item.
    if (Array.isArray(value)) return value.map((each) => expand(each, tree, path));
    if (typeof value !== 'string') {
      if (value !== null && !isRecord(value)) throw cannotExpand(path);
      return render(value, tree, { path, nested: true });
    }
    const found = find(value);
    if (found === undefined) throw cannotExpand(path);
    return render(found, tree, { path, nested: true });
  }

  return (value: unknown, properties: readonly string[] = []): unknown =>
    render(value, toExpandTree(properties), { path: '', nested: false });
}

const join = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);
const cannotExpand = (property: string) => invalid(`This property cannot be expanded (${property}).`);

function truncateList(value: Json, nested: boolean): Json {
  if (!nested || value.object !== 'list' || !Array.isArray(value.data) || value.data.length <= maxNestedItems)
    return value;
  return { ...value, data: value.data.slice(0, maxNestedItems), has_more: true };
}
