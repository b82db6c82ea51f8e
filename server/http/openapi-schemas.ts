import { z } from 'zod';
import { type JsonSchema, replacement, requiredMark } from './schema-doc.ts';

const isNull = ({ type }: JsonSchema): boolean => type === 'null';

/** `anyOf: [text, null]` as `type: [string, null]`, which all generators read. A named schema stays in `anyOf`. */
function joinNull({ anyOf, ...outer }: JsonSchema): JsonSchema {
  const [schema, ...others] = (anyOf ?? []).filter((one) => !isNull(one));
  if (anyOf === undefined || schema === undefined) return { ...outer, ...(anyOf && { anyOf }) };
  if (others.length > 0 || typeof schema.type !== 'string') return { ...outer, anyOf };
  if (!anyOf.some(isNull)) return { ...schema, ...outer };
  const values = schema.enum && { enum: [...schema.enum, null] };
  return { ...schema, ...outer, type: [schema.type, 'null'], ...values };
}

/** Removes what generators cannot read, or what tells a client nothing. */
function simplify(schema: JsonSchema): JsonSchema {
  const { const: constant, minimum, maximum, pattern, propertyNames, additionalProperties, ...rest } = schema;
  const types = [rest.type].flat();
  return {
    ...rest,
    ...(typeof constant === 'string' && { enum: [constant] }),
    ...(types.includes('integer') && { format: 'int64' }),
    ...(types.includes('number') && { format: 'double' }),
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    // The pattern of dates repeats the format in 300 characters.
    ...(pattern !== undefined && rest.format !== 'date-time' && { pattern }),
    ...(propertyNames !== undefined && Object.keys(propertyNames).length > 1 && { propertyNames }),
    ...(additionalProperties !== undefined && { additionalProperties }),
  };
}

const mapValues = <Value, Result>(values: Record<string, Value>, change: (value: Value) => Result) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const withRequired = (required: string[] | undefined, properties: Record<string, JsonSchema>) => {
  const marked = Object.keys(properties).filter((name) => properties[name]?.[requiredMark] === true);
  const names = [...new Set([...(required ?? []), ...marked])];
  return names.length > 0 && { required: names };
};

/** Adapts a schema of zod to the generators of typed clients. */
function normalise(source: JsonSchema, io: 'input' | 'output'): JsonSchema {
  const { [replacement]: substitute, ...own } = source;
  const { description, examples } = own;
  const schema = isSchema(substitute)
    ? { ...substitute, ...(description !== undefined && { description }), ...(examples && { examples }) }
    : own;
  const { $ref, properties, items, anyOf, additionalProperties, [requiredMark]: _mark, ...rest } = schema;
  const within = (one: JsonSchema) => normalise(one, io);
  // A client that was generated before a new member of an answer must accept it.
  const isClosedAnswer = io === 'output' && additionalProperties === false;
  return joinNull(
    simplify({
      ...rest,
      ...($ref !== undefined && { $ref: $ref.replace('#/$defs/', '#/components/schemas/') }),
      ...(properties && { properties: mapValues(properties, within), ...withRequired(rest.required, properties) }),
      ...(items && { items: within(items) }),
      ...(anyOf && { anyOf: anyOf.map(within) }),
      ...(additionalProperties !== undefined &&
        !isClosedAnswer && {
          additionalProperties: isSchema(additionalProperties) ? within(additionalProperties) : additionalProperties,
        }),
    }),
  );
}

const toRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The named schemas of one document. */
export class SchemaRegistry {
  readonly #named = new Map<string, JsonSchema>();

  /** Adds a schema. @throws if the name belongs to another schema */
  add(name: string, schema: JsonSchema): JsonSchema {
    const known = this.#named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas of the JSON API have the name ${name}`);
    }
    this.#named.set(name, schema);
    return toRef(name);
  }

  /** The JSON Schema of a schema of zod. Schemas with an id in their meta data become named ones. */
  convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const {
      $schema: _,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, { target: 'draft-2020-12', io }) as JsonSchema & {
      $defs?: Record<string, JsonSchema>;
    };
    for (const [name, named] of Object.entries($defs)) {
      const { id: _id, ...content } = named;
      this.add(name, normalise(content, io));
    }
    const { id, ...content } = normalise(root, io);
    return typeof id === 'string' && content.$ref === undefined ? this.add(id, content) : content;
  }

  /** The same; an object or a choice gets this name if it has none. */
  convertNamed(schema: z.ZodType, io: 'input' | 'output', name: string): JsonSchema {
    const converted = this.convert(schema, io);
    return converted.properties || converted.anyOf ? this.add(name, converted) : converted;
  }

  /** By name. */
  list(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#named].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** An example that the schema accepts, from the examples of its parts; undefined if a part has none. */
  example(schema: JsonSchema): unknown {
    const { $ref, examples, anyOf, type, properties, items } = schema;
    if (examples) return examples[0];
    if ($ref !== undefined) return this.example(this.#named.get($ref.split('/').at(-1) ?? '') ?? {});
    if (schema.enum) return schema.enum[0];
    const [first] = anyOf ?? [];
    if (first) return this.example(first);
    if (properties) return mapValues(properties, (one) => this.example(one));
    if (items) return [this.example(items)];
    if (type === 'boolean') return true;
    return type === 'object' ? {} : undefined;
  }
}
