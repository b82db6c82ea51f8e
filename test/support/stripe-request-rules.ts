/** Rules that Stripe's description of requests does not contain: paths to expand, and the lengths of texts. */
type Json = Record<string, unknown>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Stripe's limit (docs.stripe.com/api/expanding_objects). */
const maxLevels = 4;
/** Left out unless they are asked for (docs.stripe.com/expand). */
const onRequest = new Set([
  'Invoice.confirmation_secret',
  'Invoice.payments',
  'Coupon.applies_to',
  'Coupon.currency_options',
  'Price.currency_options',
  'Price.tiers',
]);

type Schemas = Record<string, Json>;

const nameOf = ({ $ref }: Json) => (typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined);

/** The schemas that a value may have, without references, lists and alternatives; with the name of each. */
function alternatives(schemas: Schemas, schema: unknown, name?: string): { name?: string; schema: Json }[] {
  if (!isJson(schema)) return [];
  const named = nameOf(schema);
  if (named !== undefined) return alternatives(schemas, schemas[named], named);
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap((one) => alternatives(schemas, one, name));
  if (schema.type === 'array') return alternatives(schemas, schema.items, name);
  return [{ ...(name !== undefined && { name }), schema }];
}

/** Tests for a value that is an id, or the object when a request asks for it. */
const isExpandable = (found: readonly { schema: Json }[]): boolean =>
  found.some(({ schema }) => schema.type === 'string') && found.some(({ schema }) => 'properties' in schema);

/** The fault of a path to expand, by the schema of the answer; undefined: there is none. */
export function expandFault(schemas: Schemas, answer: unknown, path: string): string | undefined {
  const names = path.split('.');
  if (names.length > maxLevels) return `${path} has more than ${maxLevels} levels`;
  let at = alternatives(schemas, answer);
  let isExpanded = false;
  for (const property of names) {
    const holders = at.filter(({ schema }) => isJson(schema.properties) && property in schema.properties);
    if (holders.length === 0) return `${path}: there is no ${property}`;
    at = holders.flatMap(({ schema }) => alternatives(schemas, (schema.properties as Json)[property]));
    isExpanded = isExpandable(at) || holders.some(({ name }) => onRequest.has(`${name}.${property}`));
  }
  return isExpanded ? undefined : `${path} cannot be expanded`;
}

const longest = 5_000;
const metadata = { keys: 50, key: 40, value: 500 };

/** The faults of texts: docs.stripe.com/api/metadata, and the length of most texts in Stripe's description. */
export function lengthFaults(params: unknown, path = ''): string[] {
  if (typeof params === 'string') return params.length > longest ? [`${path} has ${params.length} characters`] : [];
  if (Array.isArray(params)) return params.flatMap((one, index) => lengthFaults(one, `${path}/${index}`));
  if (!isJson(params)) return [];
  return Object.entries(params).flatMap(([name, value]) => [
    ...(name === 'metadata' && isJson(value) ? metadataFaults(value, `${path}/metadata`) : []),
    ...lengthFaults(value, `${path}/${name}`),
  ]);
}

function metadataFaults(values: Json, path: string): string[] {
  const entries = Object.entries(values);
  return [
    ...(entries.length > metadata.keys ? [`${path} has ${entries.length} keys`] : []),
    ...entries.flatMap(([key, value]) => [
      ...(key.length > metadata.key || /[[\]]/.test(key) ? [`${path} has the key ${key}`] : []),
      ...(String(value).length > metadata.value ? [`${path}/${key} has ${String(value).length} characters`] : []),
    ]),
  ];
}
