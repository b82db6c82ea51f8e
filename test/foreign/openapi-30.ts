const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNull = (schema: unknown) => isObject(schema) && schema.type === 'null';

/** `type`, as a keyword: it may also be the name of a property. */
function toType(type: unknown): Record<string, unknown> {
  if (!Array.isArray(type)) return type === undefined ? {} : { type: toOlder(type) };
  const [named, ...others] = type.filter((one) => one !== 'null');
  if (others.length > 0) throw new Error(`OpenAPI 3.0 has no union of ${type.join(' and ')}`);
  return { type: named, ...(type.includes('null') && { nullable: true }) };
}

function toChoice(anyOf: unknown): Record<string, unknown> {
  if (!Array.isArray(anyOf)) return anyOf === undefined ? {} : { anyOf: toOlder(anyOf) };
  const some = anyOf.filter((one) => !isNull(one)).map(toOlder);
  const nullable = some.length < anyOf.length && { nullable: true };
  return some.length === 1 ? { allOf: some, ...nullable } : { anyOf: some, ...nullable };
}

function toOlder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toOlder);
  if (!isObject(value)) return value;
  const { examples, type, anyOf, propertyNames: _, enum: values, ...rest } = value;
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, toOlder(part)])),
    ...(Array.isArray(examples) ? { example: examples[0] } : examples !== undefined && { examples: toOlder(examples) }),
    ...(Array.isArray(values)
      ? { enum: values.filter((one) => one !== null) }
      : values !== undefined && { enum: toOlder(values) }),
    ...toType(type),
    ...toChoice(anyOf),
  };
}

/** The document for generators of OpenAPI 3.0, which has `nullable`, one example and no lists of types. */
export function toOpenApi30(document: string): string {
  const older = toOlder(JSON.parse(document));
  return JSON.stringify({
    ...(isObject(older) ? older : {}),
    openapi: '3.0.3',
    info: { title: 'Foyer API', version: '1' },
  });
}
